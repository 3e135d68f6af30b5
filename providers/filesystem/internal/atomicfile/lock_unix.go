//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
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
