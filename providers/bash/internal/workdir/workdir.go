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
	ids   []identity
}

// identity is a directory of this machine, whichever way leads to it.
type identity struct{ device, inode uint64 }

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
		id, err := identify(int(dir.Fd()))
		if err := errors.Join(err, dir.Close()); err != nil {
			return nil, err
		}
		r.names, r.ids = append(r.names, filepath.Clean(name)), append(r.ids, id)
	}
	return r, nil
}

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
	inside, err := r.contain(int(dir.Fd()))
	if err == nil && !inside {
		err = fmt.Errorf("%s: %w", path, ErrOutside)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// contain climbs from dir to the top of the file system and looks for a root on the way.
func (r *Roots) contain(dir int) (bool, error) {
	here, err := identify(dir)
	if err != nil {
		return false, err
	}
	if slices.Contains(r.ids, here) {
		return true, nil
	}
	parent, err := unix.Openat(dir, "..", searchFlags, 0)
	if err != nil {
		return false, &fs.PathError{Op: "open", Path: "..", Err: err}
	}
	defer func() { _ = unix.Close(parent) }()
	if above, err := identify(parent); err != nil || above == here {
		return false, err // at the top, which is its own parent
	}
	return r.contain(parent)
}

func openDir(path string) (*os.File, error) {
	fd, err := unix.Open(path, searchFlags, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func identify(dir int) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return identity{}, err
	}
	return identity{device: uint64(st.Dev), inode: st.Ino}, nil
}
