package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTypeahead forgets what was typed and not read yet.
func discardTypeahead(f *os.File) {
	conn, err := f.SyscallConn() // Fd would end the deadlines of the file
	if err == nil {
		_ = conn.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) })
	}
}

// setEcho has a terminal show what is typed, or not, until back is called. While it shows nothing no key ends the process
// on the spot, which would leave it so; what is no terminal stays as it is.
func setEcho(f *os.File, on bool) (back func()) {
	conn, err := f.SyscallConn()
	if err != nil {
		return func() {}
	}
	change := func(what func(*unix.Termios)) {
		_ = conn.Control(func(fd uintptr) {
			if mode, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err == nil {
				what(mode)
				_ = unix.IoctlSetTermios(int(fd), unix.TCSETS, mode)
			}
		})
	}
	var before unix.Termios
	change(func(mode *unix.Termios) {
		before = *mode
		mode.Lflag |= unix.ECHO
		if !on {
			mode.Lflag &^= unix.ECHO
			mode.Cc[unix.VQUIT] = 0 // none
		}
	})
	return func() {
		change(func(mode *unix.Termios) {
			mode.Lflag = mode.Lflag&^unix.ECHO | before.Lflag&unix.ECHO
			mode.Cc[unix.VQUIT] = before.Cc[unix.VQUIT]
		})
	}
}
