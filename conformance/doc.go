// Package conformance holds providers to the protocol from outside: real binaries, in any language, driven by a client
// of its own. [Check] tries one and reports; [Run] makes each rule a subtest; the command in cmd/conformance is for
// everybody else. README.md says how a provider is tried and what a scenario file holds.
//
// The moving parts, for whoever changes them:
//
//	Check ──► subject ──► evidence: what was seen of the provider, gathered once, when a rule first asks
//	             │          announcing, uncookied    the handshake, by hand
//	             │          discovery, offline       what it says before Configure, with and without a network
//	             │          refusals                 blocks that do not fit
//	             │          session                  one life: every call, preview and rendering, then the shutdown
//	             │          cancels, crowd, orphan   calls cancelled, side by side, and without a kernel
//	             │          unheard, unhurried       calls for a kernel without callbacks, or with slow ones
//	             │          repeated, hurried        calls made twice, and a shutdown while one runs
//	             ▼
//	          catalogue ──► check(subject) finding ──► Row: pass, fail, warn or skipped, and what was seen
//
// # How a check is written
//
// A rule is one entry of the catalogue in rules.go: id, level, one sentence, where it stands, what is written there, and
// its check, so that there is none without the other. A check looks at evidence and starts nothing itself:
//
//	func kindDeclared(t *tally, op operation) {
//		if op.GetKind() == toolv1.ToolKind_TOOL_KIND_UNSPECIFIED {
//			t.add("the kind of %s is unspecified", op)
//		}
//	}
//
// Helpers such as eachOperation, eachCall, eachEvent, eachFailure and eachCancelled bring the evidence; a tally makes
// the finding, which is a skip when there was nothing to look at: a rule that was not tried has not passed. A problem
// says on what and what instead, since its reader sees nothing else. New evidence is a field of subject, and gathers
// what several rules need in as few processes as possible.
//
// Every rule has a provider in internal/fixture that breaks it and nothing else; a test fails while one is missing.
// That test tries one provider for each rule; CONFORMANCE_FAULTS='*' has it try all of them, and a glob such as
// 'cancel.*' some.
package conformance
