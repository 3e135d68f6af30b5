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

// waiting is what can be read of a terminal without a wait.
func waiting(f *os.File) (typed []byte) {
	conn, err := f.SyscallConn() // Fd would end the deadlines of the file
	if err != nil {
		return nil
	}
	_ = conn.Control(func(fd uintptr) {
		buf := make([]byte, 4096)
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for len(typed) <= lineLimit {
			if n, err := unix.Poll(ready, 0); n != 1 || err != nil || ready[0].Revents != unix.POLLIN {
				return
			}
			n, err := unix.Read(int(fd), buf)
			if n <= 0 || err != nil {
				return
			}
			typed = append(typed, buf[:n]...)
		}
	})
	return typed
}
