// Package keeper starts commands and ends them whole.
//
// A command is not started by this process but by a keeper: a second, small process
// (the same binary again, see run in serve_linux.go) that keeps exactly one command at
// a time.
//
//	provider ── socket ── keeper ── shell ── whatever the command starts
//	    │
//	    └────── socket ── keeper (idle, waits for the next command)
//
// The keeper is a subreaper: a descendant that loses its parent, however it got away
// (nohup, setsid, a double fork), becomes the keeper's own child. So "the keeper has no
// child left" proves that nothing of the command is left, and no descendant can be
// taken for one of another command.
//
// When the provider dies, its end of the socket closes, and the keeper kills what it
// keeps before it exits. When a keeper dies, its children become the provider's, which
// is a subreaper too and ends them. A process that opens a [Pool] has therefore no
// other children than keepers, or loses them in that moment.
//
// Elsewhere than on Linux there is no subreaper: the command is a child of this
// process, and only its process group is ended with it.
package keeper

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/sandbox"
)

// Spec says what to start. The files stay the caller's and may be closed as soon as
// Start has returned.
type Spec struct {
	Path string   // the executable
	Args []string // with the name at index 0
	Env  []string // the whole environment

	Dir                   *os.File // the working directory, open
	Stdin, Stdout, Stderr *os.File
	Extra                 *os.File // descriptor 3 of the command; nil for none

	// Sandbox is what the command may not do; nil for no such limits. Commands with equal
	// pointers share keepers. Elsewhere than on Linux it must be nil.
	Sandbox *sandbox.Policy

	// Session makes the command lead a session of its own, with the terminal that Stdout
	// is as the controlling one.
	Session bool
}

// Status is how the shell ended.
type Status struct {
	Code   int    // as a shell counts: 128+n after signal n
	Signal string // such as "SIGKILL"; empty when it exited by itself
}

var (
	// ErrLost is the end of a process whose keeper was killed under it.
	ErrLost = errors.New("the process that kept the command was killed")
	// ErrClosed is returned by Start after Close.
	ErrClosed = errors.New("shutting down")
)

// StartError says that the command could not be started at all.
type StartError struct {
	Path string
	Err  syscall.Errno
}

func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Path, e.Err) }
func (e *StartError) Unwrap() error { return e.Err }

func statusOf(ws unix.WaitStatus) Status {
	if ws.Exited() {
		return Status{Code: ws.ExitStatus()}
	}
	name := unix.SignalName(ws.Signal())
	if name == "" {
		name = fmt.Sprintf("signal %d", int(ws.Signal()))
	}
	return Status{Code: 128 + int(ws.Signal()), Signal: name}
}
