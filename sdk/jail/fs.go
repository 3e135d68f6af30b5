package jail

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
// [*Irregular] error, without ever waiting for the other end of a pipe. The name
// of the file is what [Jail.Resolve] makes of name.
func (j *Jail) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	var file afero.File
	err := settle("open", name, func() (err error) {
		file, err = j.openOnce(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// openOnce returns errSwapped when the name was swapped under it.
func (j *Jail) openOnce(name string, flag int, perm fs.FileMode) (afero.File, error) {
	exclusive := flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0
	p, err := j.resolve(name, !exclusive)
	if err != nil {
		return nil, err
	}
	if p.root.readOnly && flag&writing != 0 {
		return nil, ErrReadOnly
	}
	if p.info == nil {
		return j.create(p, flag, perm)
	}
	if exclusive {
		return nil, fs.ErrExist
	}
	if err := regular(p.info); err != nil {
		return nil, err
	}
	// Emptying waits until it is certain which file this is.
	known := flag&^(os.O_TRUNC|os.O_CREATE) | syscall.O_NONBLOCK
	if f := p.openDirectly(known); f != nil {
		if err := empty(f, flag); err != nil {
			return nil, firstError(err, f.Close())
		}
		return f, nil
	}
	f, err := p.root.handle.OpenFile(p.rel, known, perm)
	if hidesIrregular(err) {
		return nil, &Irregular{}
	}
	if err != nil {
		return nil, j.blame(p, settled(err))
	}
	file, err := j.admit(f, p, flag)
	if file == nil {
		err = firstError(err, f.Close())
	}
	return file, err
}

// create makes the file p, if flag says so, where nothing is.
func (j *Jail) create(p place, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&os.O_CREATE == 0 {
		return nil, fs.ErrNotExist
	}
	dir, err := p.hold()
	if err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(dir.base, flag|os.O_EXCL|syscall.O_NONBLOCK, perm)
	if err = firstError(err, dir.release()); err == nil {
		return f, nil
	}
	if f != nil {
		_ = f.Close()
	}
	if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 { // it was not there a moment ago
		return nil, errSwapped
	}
	return nil, j.blame(p, err)
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
	if !same(info, p.info) {
		return nil, errSwapped
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &dir{File: f, hidden: func(name string) bool {
			return j.deny.matches(p.root.denyPath(filepath.Join(p.rel, name)))
		}}, nil
	}
	if err := empty(f, flag); err != nil {
		return nil, err
	}
	return f, nil
}

// empty takes away the content of f, if flag says so.
func empty(f *os.File, flag int) error {
	if flag&os.O_TRUNC == 0 {
		return nil
	}
	return f.Truncate(0)
}

func regular(info sight) error {
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
	return j.describe("stat", name, look{follow: true})
}

// LstatIfPossible describes name itself, a link included.
func (j *Jail) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := j.describe("lstat", name, look{})
	return info, true, err
}

func (j *Jail) describe(op, name string, how look) (fs.FileInfo, error) {
	how.described = true
	p, err := j.look(name, how)
	if info, ok := p.info.(fs.FileInfo); ok && err == nil {
		return info, nil
	}
	return nil, failure(op, name, firstError(err, fs.ErrNotExist))
}

// ReadlinkIfPossible returns the text of a link.
func (j *Jail) ReadlinkIfPossible(name string) (string, error) {
	p, err := j.existing(name, false)
	if err != nil {
		return "", failure("readlink", name, err)
	}
	dir, err := p.hold()
	if err != nil {
		return "", failure("readlink", name, err)
	}
	target, err := dir.Readlink(dir.base)
	return target, failure("readlink", name, firstError(err, dir.release()))
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
	return settle("mkdir", name, func() error { return j.mkdirAllOnce(name, perm) })
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
	for end := 0; end < len(p.rel); end++ {
		if next := strings.IndexByte(p.rel[end:], filepath.Separator); next >= 0 {
			end += next
		} else {
			end = len(p.rel)
		}
		if err := j.makeDir(place{root: p.root, rel: p.rel[:end]}, perm); err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes the directory p if nothing is there.
func (j *Jail) makeDir(p place, perm fs.FileMode) error {
	dir, err := p.hold()
	if err != nil {
		return err
	}
	err = dir.Mkdir(dir.base, perm)
	if errors.Is(err, fs.ErrExist) {
		var info fs.FileInfo
		if info, err = dir.Lstat(dir.base); err == nil && !info.IsDir() { // what has come in the meantime may be a link
			err = errSwapped
		}
	}
	return firstError(err, dir.release())
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
	return j.between("rename", from, to, func(source, target place) error {
		if source.beside(target) {
			return source.within(target, (*os.Root).Rename)
		}
		return renameAcross(source, target)
	})
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

// change runs do on name's directory, held: nothing that happens to the path
// above can redirect it.
func (j *Jail) change(op, name string, follow bool, do func(dir *os.Root, base string) error) error {
	return settle(op, name, func() error {
		p, err := j.resolve(name, follow)
		switch {
		case err != nil:
			return err
		case p.root.readOnly:
			return ErrReadOnly
		case j.holdsRoot(p.abs()):
			return ErrRoot
		}
		dir, err := p.hold()
		if err != nil {
			return err
		}
		return firstError(do(dir.Root, dir.base), dir.release())
	})
}
