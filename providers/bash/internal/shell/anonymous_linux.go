package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymous returns an empty file in memory: what a command is told may be a secret,
// which has no business on a disk.
func anonymous(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
