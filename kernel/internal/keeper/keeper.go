// Package keeper starts a provider and ends it whole: with everything it has started, however that tried to get away and
// however the kernel dies.
//
// On Linux a provider is not started by the kernel but by a keeper, a second, small process of the kernel's own binary
// (see package serve) that keeps exactly one provider:
//
//	kernel ── socket ── keeper ── provider ── whatever the provider starts
//
// The keeper is a subreaper: a descendant that loses its parent (nohup, setsid, a double fork) becomes the keeper's own
// child. So "the keeper has no child left" proves that nothing of the provider is left.
//
//   - When the provider ends, the keeper kills what is left below it, says how it ended, and ends.
//   - When the kernel dies, its end of the socket closes. The keeper sends the provider SIGTERM, gives it five seconds to
//     put things right, and kills what is left.
//   - When the keeper itself is killed, the provider is killed with it (PR_SET_PDEATHSIG), and the kernel, which is a
//     subreaper too, ends what the two have left.
//
// The keeper leads a session of its own: neither Ctrl-C nor the end of the terminal reaches a provider before the kernel
// has said what is to become of it, and a provider has no terminal that it could wait for.
//
// Elsewhere there is no subreaper. A provider is a child of the kernel, and what is in its process group (on Windows: it
// alone) is ended with it; when the kernel is killed, a provider has to notice that by itself, as those of the SDK do.
package keeper

import "os"

// Spec says what to start.
type Spec struct {
	// Path is what is executed, Args what it is told, beginning with its name.
	Path string
	Args []string
	// Env is the whole environment, Dir the working directory.
	Env []string
	Dir string
	// Stdout and Stderr stay the caller's and may be closed as soon as Start has returned. Stdin is empty.
	Stdout, Stderr *os.File
	// Binary is what Path leads to when Path is one of ByDescriptor; nil otherwise.
	Binary *os.File
}

// Status is how a provider ended.
type Status struct {
	text   string
	killed bool
}

// String is such as "exit status 2" or "signal: killed".
func (s Status) String() string { return s.text }

// Killed reports whether it was SIGKILL that ended the provider, or whatever comes nearest to it on this system.
func (s Status) Killed() bool { return s.killed }
