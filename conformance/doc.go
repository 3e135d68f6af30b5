// Package conformance holds providers to the protocol from outside: real binaries, in any language, driven by a client
// of its own. [Check] tries one and reports; [Run] makes each rule a subtest; the command in cmd/conformance is for
// everybody else.
package conformance
