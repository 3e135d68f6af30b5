// Package stdout keeps the standard output of a provider for the handshake. What a provider prints there goes to standard error
// instead, from the first moment on: a kernel would take it for the handshake, or for nothing.
//
// Nobody prints before. Go initialises, of the packages whose imports all are, always the one whose path comes first. This one
// imports nothing that needs package os, and comes before internal/poll, which package os needs.
package stdout

import (
	"syscall"

	"github.com/agentco/agent/proto/plugin"
)

var (
	started bool
	kept    uintptr
	failure error
)

func init() {
	if cookie, _ := syscall.Getenv(plugin.MagicCookieKey); cookie != plugin.MagicCookieValue {
		return
	}
	started = true
	kept, failure = divert()
}

// StartedByKernel reports whether the process was started with a kernel's cookie.
func StartedByKernel() bool { return started }

// Kept is the descriptor, or handle, of what was standard output when a kernel started the process. It is for the caller to
// close, and not inherited.
func Kept() (uintptr, error) { return kept, failure }
