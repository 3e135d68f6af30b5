//go:build unix

package lineedit

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// watchTerminal tells when the terminal gets another size, and when the process goes on after it was stopped, until stop
// is called. It does not tell when the process is to stop: a program that has once asked for that cannot be stopped any
// more when it no longer asks.
func watchTerminal() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 2) // one of each
	signal.Notify(c, unix.SIGWINCH, unix.SIGCONT)
	return c, func() { signal.Stop(c) }
}

// goesOn reports whether a process that was stopped goes on: somebody else has had the terminal meanwhile.
func goesOn(s os.Signal) bool { return s == unix.SIGCONT }
