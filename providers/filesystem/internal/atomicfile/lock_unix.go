//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/afero"
)

// claim takes the lock of a journal for as long as f is open. It is false when
// a living process has it or when the file is no longer there.
func claim(f *os.File) (bool, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		return false, err
	}
	if errors.Is(failed, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if failed != nil {
		return false, failed
	}
	return stillNamed(f)
}

// canLock says that a file may be locked while it is replaced.
const canLock = true

// tryLock takes the lock of an open file, until it is closed. It is false while
// another has it; a file that has no lock is free.
func tryLock(f afero.File) bool {
	c, ok := f.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	return err != nil || !errors.Is(failed, syscall.EWOULDBLOCK)
}

func stillNamed(f *os.File) (bool, error) {
	held, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(held, named), err
}
