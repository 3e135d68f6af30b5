//go:build unix

package textfile

import (
	"os"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// keepOwner gives the new file the owner of the old one, where this process may.
func keepOwner(dir *os.Root, old, temp string) {
	info, err := dir.Stat(old)
	if err != nil {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = dir.Lchown(temp, int(st.Uid), int(st.Gid))
	}
}
