package walk

import (
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/spf13/afero"

	"github.com/agentco/agent/sdk/jail"
)

// Dir is an open directory. In a jail it is held by its descriptor, and what is
// below it is reached from there, by one name at a time and through no link.
type Dir interface {
	// Entries returns what is in the directory, and how many names are hidden.
	// It is called once.
	Entries() ([]jail.Entry, int, error)
	// Dir opens a directory in this one, which the caller closes.
	Dir(name string) (Dir, error)
	// Open opens a regular file in this directory, which the caller closes.
	Open(name string) (io.ReadCloser, error)
	// Lstat describes a name in this directory, a link as itself.
	Lstat(name string) (jail.Info, error)
	// Readlink returns the text of a link in this directory.
	Readlink(name string) (string, error)
	io.Closer
}

// Open opens the directory at path, which has no links in it.
func Open(files afero.Fs, path string) (Dir, error) {
	if j, ok := files.(*jail.Jail); ok {
		d, err := j.OpenDir(path)
		if err != nil {
			return nil, err
		}
		return jailed{d}, nil
	}
	info, err := files.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return plain{files, path}, err
}

// jailed is a directory of a jail, in the interface's types.
type jailed struct{ held *jail.Dir }

func (d jailed) Entries() ([]jail.Entry, int, error) { return d.held.Entries() }

func (d jailed) Dir(name string) (Dir, error) {
	below, err := d.held.Dir(name)
	if err != nil {
		return nil, err
	}
	return jailed{below}, nil
}

func (d jailed) Open(name string) (io.ReadCloser, error) {
	f, err := d.held.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d jailed) Lstat(name string) (jail.Info, error) { return d.held.Lstat(name) }

func (d jailed) Readlink(name string) (string, error) { return d.held.Readlink(name) }

func (d jailed) Close() error { return d.held.Close() }

// plain is a directory of a filesystem that knows no descriptors, as in memory.
type plain struct {
	files afero.Fs
	path  string
}

func (d plain) Entries() ([]jail.Entry, int, error) {
	infos, err := afero.ReadDir(d.files, d.path)
	entries := make([]jail.Entry, len(infos))
	for i, info := range infos {
		entries[i] = jail.Entry{Name: info.Name(), Type: info.Mode().Type()}
	}
	return entries, 0, err
}

func (d plain) Dir(name string) (Dir, error) { return Open(d.files, filepath.Join(d.path, name)) }

func (d plain) Open(name string) (io.ReadCloser, error) {
	return d.files.Open(filepath.Join(d.path, name))
}

func (d plain) Lstat(name string) (jail.Info, error) {
	info, err := d.files.Stat(filepath.Join(d.path, name))
	if err != nil {
		return jail.Info{}, err
	}
	return jail.Info{Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (d plain) Readlink(string) (string, error) { return "", afero.ErrNoReadlink }

func (plain) Close() error { return nil }
