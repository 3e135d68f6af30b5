package jail

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// renameNew moves source to target in one step that fails if something is
// there. Both directories are held open: nothing that happens to the paths above
// can redirect it.
func (j *Jail) renameNew(source, target place) error {
	old, err := j.pin(filepath.Dir(source.abs()))
	if err != nil {
		return err
	}
	fresh, err := j.pin(filepath.Dir(target.abs()))
	if err != nil {
		return firstError(err, old.Close())
	}
	err = moveNew(old.roots[0].handle, filepath.Base(source.rel), fresh.roots[0].handle, filepath.Base(target.rel))
	return firstError(err, fresh.Close(), old.Close())
}

func moveNew(old *os.Root, from string, fresh *os.Root, to string) error {
	source, err := old.Open(".")
	if err != nil {
		return err
	}
	target, err := fresh.Open(".")
	if err != nil {
		return firstError(err, source.Close())
	}
	err = unix.Renameat2(int(source.Fd()), from, int(target.Fd()), to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // not every filesystem can
		if err = absent(fresh, to); err == nil {
			err = unix.Renameat(int(source.Fd()), from, int(target.Fd()), to)
		}
	}
	return firstError(err, target.Close(), source.Close())
}
