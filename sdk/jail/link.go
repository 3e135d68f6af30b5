package jail

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/afero"
)

var _ afero.Linker = (*Jail)(nil)

// Link gives the regular file at from a second name, to, in the same root.
// Links are not followed, and an existing name is never replaced.
func (j *Jail) Link(from, to string) error {
	return j.between("link", from, to, func(source, target place) error {
		if source.info.IsDir() {
			return syscall.EPERM
		}
		if source.beside(target) {
			return source.within(target, (*os.Root).Link)
		}
		return linkAcross(source, target)
	})
}

// SymlinkIfPossible makes name a link that says target, as [afero.Linker] has
// it. Where that leads is not looked at: a jail follows no link that leads out.
func (j *Jail) SymlinkIfPossible(target, name string) error {
	return j.change("symlink", name, false, func(d *os.Root, base string) error { return d.Symlink(target, base) })
}

// RenameNew moves what is at from to a name at which nothing is; else it fails
// with [fs.ErrExist]. Links are moved, not followed. Between roots it is EXDEV,
// as between devices.
func (j *Jail) RenameNew(from, to string) error {
	return j.between("rename", from, to, func(source, target place) error {
		if target.info != nil {
			return fs.ErrExist
		}
		return renameNew(source, target)
	})
}

// between does something with two names, which may change places, in one root.
func (j *Jail) between(op, from, to string, do func(source, target place) error) error {
	return settle(op, to, func() error {
		source, err := j.existing(from, false)
		if err != nil {
			return err
		}
		target, err := j.resolve(to, false)
		switch {
		case err != nil:
			return err
		case j.holdsRoot(source.abs()) || j.holdsRoot(target.abs()):
			return ErrRoot
		case source.root.readOnly || target.root.readOnly:
			return ErrReadOnly
		case source.root != target.root:
			return syscall.EXDEV
		}
		return do(source, target)
	})
}

// beside reports whether two places of one root are in one directory.
func (p place) beside(other place) bool { return filepath.Dir(p.rel) == filepath.Dir(other.rel) }

// within does something with two names of one directory.
func (p place) within(other place, do func(dir *os.Root, from, to string) error) error {
	dir, err := p.hold()
	if err != nil {
		return err
	}
	return firstError(do(dir.Root, dir.base, filepath.Base(other.rel)), dir.release())
}
