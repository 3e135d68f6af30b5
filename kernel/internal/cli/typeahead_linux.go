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
