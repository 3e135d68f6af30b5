package jail

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/afero"
)

var _ afero.Linker = (*Jail)(nil)

// Link gives the regular file at from a second name, to, in the same root.
// Links are not followed, and an existing name is never replaced.
func (j *Jail) Link(from, to string) error {
	source, target, err := j.pair(from, to)
	if err != nil {
		return failure("link", to, err)
	}
	if source.info.IsDir() {
		return failure("link", to, syscall.EPERM)
	}
	return failure("link", to, source.root.handle.Link(source.rel, target.rel))
}

// SymlinkIfPossible makes name a link that says target, as [afero.Linker] has
// it. Where that leads is not looked at: a jail follows no link that leads out.
func (j *Jail) SymlinkIfPossible(target, name string) error {
	return j.change("symlink", name, false, func(d *os.Root, base string) error { return d.Symlink(target, base) })
}

// pair finds two names that are to change places in one root.
func (j *Jail) pair(from, to string) (source, target place, err error) {
	if source, err = j.existing(from, false); err != nil {
		return source, target, err
	}
	if target, err = j.resolve(to, false); err != nil {
		return source, target, err
	}
	switch {
	case j.holdsRoot(source.abs()) || j.holdsRoot(target.abs()):
		err = ErrRoot
	case source.root.readOnly || target.root.readOnly:
		err = ErrReadOnly
	case source.root != target.root:
		err = syscall.EXDEV
	}
	return source, target, err
}

// RenameNew moves what is at from to a name at which nothing is; else it fails
// with [fs.ErrExist]. Links are moved, not followed. Between roots it is EXDEV,
// as between devices.
func (j *Jail) RenameNew(from, to string) error {
	source, target, err := j.pair(from, to)
	if err != nil {
		return failure("rename", to, err)
	}
	if target.info != nil {
		return failure("rename", to, fs.ErrExist)
	}
	return failure("rename", to, j.renameNew(source, target))
}

// absent returns [fs.ErrExist] if something is at name.
func absent(dir *os.Root, name string) error {
	_, err := dir.Lstat(name)
	switch {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}
