//go:build !linux

package jail

import (
	"errors"
	"os"
	"syscall"
)

// handle is a directory that the system holds open. A name in it could become a
// link to another one, so what is opened is compared with what it was.
type handle struct{ *os.Root }

// File is an open file of a [Dir]. It is read by one goroutine at a time.
type File struct{ *os.File }

func openHandle(p place) (h handle, same bool, err error) {
	return openSame(p.root.handle, p.rel, p.info)
}

func openSame(root *os.Root, name string, was sight) (handle, bool, error) {
	below, err := root.OpenRoot(name)
	if err != nil {
		return handle{}, false, err
	}
	info, err := below.Stat(".")
	if err != nil {
		return handle{}, false, errors.Join(err, below.Close())
	}
	return handle{below}, same(info, was), nil
}

func (h handle) close() error { return h.Root.Close() }

func (h handle) dir(name string) (handle, error) {
	info, err := h.Root.Lstat(name)
	if err != nil {
		return handle{}, err
	}
	if !info.IsDir() {
		return handle{}, syscall.ENOTDIR
	}
	below, same, err := openSame(h.Root, name, info)
	if err == nil && !same {
		err = errors.Join(ErrUnstable, below.close())
	}
	return below, err
}

func (h handle) open(name string) (File, error) {
	info, err := h.Root.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, &Irregular{Mode: info.Mode()}
	}
	f, err := h.Root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return File{}, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return File{}, errors.Join(ErrUnstable, err, f.Close())
	}
	return File{f}, nil
}

func (h handle) lstat(name string) (Info, error) {
	info, err := h.Root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (h handle) readlink(name string) (string, error) { return h.Root.Readlink(name) }

func (h handle) entries() ([]Entry, error) {
	f, err := h.Root.Open(".")
	if err != nil {
		return nil, err
	}
	found, err := f.ReadDir(-1)
	entries := make([]Entry, len(found))
	for i, e := range found {
		entries[i] = Entry{Name: e.Name(), Type: e.Type()}
	}
	return entries, errors.Join(err, f.Close())
}
