// Package workdir keeps commands' working directories inside the allowed roots.
//
// That a command starts there does not mean that it stays there. The check is for what
// is asked for by mistake, and to be the same for every tool.
package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrOutside says that a directory exists and is not inside any root.
var ErrOutside = errors.New("outside the allowed roots")

// Roots are directories, known by what they are and not by how they are spelled.
type Roots struct {
	names []string
	dirs  []os.FileInfo
}

// NewRoots takes existing directories; relative ones are resolved against base.
func NewRoots(base string, names []string) (*Roots, error) {
	r := &Roots{}
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(base, name)
		}
		dir, err := openDir(name)
		if err != nil {
			return nil, err
		}
		info, err := dir.Stat()
		if err := errors.Join(err, dir.Close()); err != nil {
			return nil, err
		}
		r.names, r.dirs = append(r.names, filepath.Clean(name)), append(r.dirs, info)
	}
	return r, nil
}

// Names are the paths of the roots, as they were given.
func (r *Roots) Names() []string { return slices.Clone(r.names) }

// String lists the roots for a message.
func (r *Roots) String() string { return strings.Join(r.names, ", ") }

// Open opens the directory path, which must be inside a root once all links are
// followed. What is checked is what was opened: changing a link afterwards changes
// nothing. The error is fs.ErrNotExist, ENOTDIR, fs.ErrPermission or ErrOutside.
func (r *Roots) Open(path string) (*os.File, error) {
	dir, err := openDir(path)
	if err != nil {
		return nil, err
	}
	inside, err := r.contain(dir)
	if err == nil && !inside {
		err = fmt.Errorf("%s: %w", path, ErrOutside)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// contain climbs from dir to the top of the file system and looks for a root on the way.
func (r *Roots) contain(dir *os.File) (bool, error) {
	here, err := dir.Stat()
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(r.dirs, func(root os.FileInfo) bool { return os.SameFile(root, here) }) {
		return true, nil
	}
	parent, err := openAt(int(dir.Fd()), "..", dir.Name()+"/..")
	if err != nil {
		return false, err
	}
	defer func() { _ = parent.Close() }()
	if above, err := parent.Stat(); err != nil || os.SameFile(above, here) {
		return false, err // at the top, which is its own parent
	}
	return r.contain(parent)
}

func openDir(path string) (*os.File, error) { return openAt(unix.AT_FDCWD, path, path) }

func openAt(dir int, path, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, path, searchFlags, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
