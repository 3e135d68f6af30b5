package jail

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// attempts is how often an open is tried again when the name changed its
// meaning between being resolved and being opened.
const attempts = 64

const writing = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_TRUNC

// Open opens a file or directory for reading.
func (j *Jail) Open(name string) (afero.File, error) { return j.OpenFile(name, os.O_RDONLY, 0) }

// Create makes or empties a file and opens it for reading and writing.
func (j *Jail) Create(name string) (afero.File, error) {
	return j.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile opens a regular file or a directory. Anything else is an
// [*Irregular] error, without ever waiting for the other end of a pipe.
func (j *Jail) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	for range attempts {
		f, err := j.openOnce(name, flag, perm)
		if err != nil {
			return nil, failure("open", name, err)
		}
		if f != nil {
			return f, nil
		}
	}
	return nil, failure("open", name, ErrUnstable)
}

// openOnce returns neither a file nor an error when the name was swapped under it.
func (j *Jail) openOnce(name string, flag int, perm fs.FileMode) (afero.File, error) {
	exclusive := flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0
	p, err := j.resolve(name, !exclusive)
	if err != nil {
		return nil, err
	}
	if p.root.readOnly && flag&writing != 0 {
		return nil, ErrReadOnly
	}
	if p.info != nil {
		if err := regular(p.info); err != nil && !exclusive {
			return nil, err
		}
	}
	// Emptying waits until it is certain which file this is.
	f, err := p.root.handle.OpenFile(p.rel, flag&^os.O_TRUNC|syscall.O_NONBLOCK, perm)
	if hidesIrregular(err) {
		return nil, &Irregular{}
	}
	if errors.Is(settled(err), errSwapped) {
		return nil, nil
	}
	if err != nil {
		return nil, j.blame(p, err)
	}
	file, err := j.admit(f, p, flag)
	if file == nil {
		err = firstError(err, f.Close())
	}
	return file, err
}

// blame names the directory on the way to p that may not be searched, if that is
// what err is about: an [os.Root] must also be able to read it.
func (j *Jail) blame(p place, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	at := "."
	for _, part := range parts(p.rel) {
		next := filepath.Join(at, part)
		if _, failed := p.root.handle.Lstat(next); errors.Is(failed, fs.ErrPermission) {
			return unsearchable(j, filepath.Join(p.root.dir, at), err)
		}
		at = next
	}
	return err
}

// admit checks that f, now open, is what p was found to be.
func (j *Jail) admit(f *os.File, p place, flag int) (afero.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if p.info == nil { // it was created a moment ago
		if p, err = j.resolve(p.abs(), true); err != nil {
			return nil, err
		}
	}
	if p.info == nil || !os.SameFile(info, p.info) {
		return nil, nil
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &dir{File: f, hidden: func(name string) bool {
			return j.deny.matches(p.root.denyPath(filepath.Join(p.rel, name)))
		}}, nil
	}
	if flag&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func regular(info fs.FileInfo) error {
	if info.IsDir() || info.Mode().IsRegular() {
		return nil
	}
	return &Irregular{Mode: info.Mode()}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Stat describes what name leads to.
func (j *Jail) Stat(name string) (fs.FileInfo, error) {
	p, err := j.existing(name, true)
	return p.info, failure("stat", name, err)
}

// LstatIfPossible describes name itself, a link included.
func (j *Jail) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	p, err := j.existing(name, false)
	return p.info, true, failure("lstat", name, err)
}

// ReadlinkIfPossible returns the text of a link.
func (j *Jail) ReadlinkIfPossible(name string) (string, error) {
	p, err := j.existing(name, false)
	if err != nil {
		return "", failure("readlink", name, err)
	}
	target, err := p.root.handle.Readlink(p.rel)
	return target, failure("readlink", name, err)
}

func (j *Jail) existing(name string, follow bool) (place, error) {
	p, err := j.resolve(name, follow)
	if err == nil && p.info == nil {
		err = fs.ErrNotExist
	}
	return p, err
}

// Mkdir makes a directory.
func (j *Jail) Mkdir(name string, perm fs.FileMode) error {
	return j.change("mkdir", name, false, func(d *os.Root, base string) error { return d.Mkdir(base, perm) })
}

// MkdirAll makes a directory and the ones above it that are missing.
func (j *Jail) MkdirAll(name string, perm fs.FileMode) error {
	for range attempts {
		if err := j.mkdirAllOnce(name, perm); !errors.Is(err, errSwapped) {
			return failure("mkdir", name, err)
		}
	}
	return failure("mkdir", name, ErrUnstable)
}

func (j *Jail) mkdirAllOnce(name string, perm fs.FileMode) error {
	p, err := j.resolve(name, true)
	switch {
	case err != nil:
		return err
	case p.info != nil && !p.info.IsDir():
		return syscall.ENOTDIR
	case p.info != nil:
		return nil
	case p.root.readOnly:
		return ErrReadOnly
	}
	err = p.root.handle.MkdirAll(p.rel, perm)
	if errors.Is(err, fs.ErrExist) { // what has come in the meantime may be a link
		return errSwapped
	}
	return settled(err)
}

// Remove removes a file, a link or an empty directory. What holds a root stays.
func (j *Jail) Remove(name string) error {
	return j.change("remove", name, false, (*os.Root).Remove)
}

// RemoveAll removes name and what is below it, as [Jail.RemoveTree] does. A
// name at which nothing is will do.
func (j *Jail) RemoveAll(name string) error {
	if _, err := j.RemoveTree(context.Background(), name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rename moves a file within one root. Between roots it is EXDEV, as between
// devices.
func (j *Jail) Rename(from, to string) error {
	source, target, err := j.pair(from, to)
	if err != nil {
		return failure("rename", to, err)
	}
	return failure("rename", to, source.root.handle.Rename(source.rel, target.rel))
}

// Chmod sets the mode of what name leads to.
func (j *Jail) Chmod(name string, mode fs.FileMode) error {
	return j.change("chmod", name, true, func(d *os.Root, base string) error { return d.Chmod(base, mode) })
}

// Chown sets the owner of what name leads to.
func (j *Jail) Chown(name string, uid, gid int) error {
	return j.change("chown", name, true, func(d *os.Root, base string) error { return d.Chown(base, uid, gid) })
}

// Chtimes sets the times of what name leads to.
func (j *Jail) Chtimes(name string, atime, mtime time.Time) error {
	return j.change("chtimes", name, true, func(d *os.Root, base string) error { return d.Chtimes(base, atime, mtime) })
}

// change runs do on name's directory, pinned: nothing that happens to the path
// above can redirect it.
func (j *Jail) change(op, name string, follow bool, do func(dir *os.Root, base string) error) error {
	p, err := j.resolve(name, follow)
	if err != nil {
		return failure(op, name, err)
	}
	if p.root.readOnly {
		return failure(op, name, ErrReadOnly)
	}
	if j.holdsRoot(p.abs()) {
		return failure(op, name, ErrRoot)
	}
	parent, err := j.pin(filepath.Dir(p.abs()))
	if err != nil {
		return failure(op, name, err)
	}
	err = do(parent.roots[0].handle, filepath.Base(p.rel))
	return failure(op, name, firstError(err, parent.Close()))
}
