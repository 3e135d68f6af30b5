//go:build unix

package host

import (
	"errors"
	"os"
	"syscall"
)

// lockFolder locks a folder until the file is closed, at the latest by the end of this process. It fails when another
// process has it locked, and on a folder of somebody else.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := ownAndLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func ownAndLock(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return os.ErrPermission
	}
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
