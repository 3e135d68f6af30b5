package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTypeahead forgets what was typed and not read yet.
func discardTypeahead(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
