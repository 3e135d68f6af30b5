package jail

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Dir is an open directory of a jail, for walking a tree. Everything is reached
// from its descriptor and by one name at a time, never through a link, so that
// whatever is renamed or exchanged meanwhile, a walk stays in the tree it began
// in. It costs no more system calls than reading the tree needs. Its methods may
// be used from several goroutines.
type Dir struct {
	jail   *Jail
	root   *root
	rel    string // in root, without links
	handle handle
	hides  *quickDeny
}

// Entry is a name in a [Dir] and what it is.
type Entry struct {
	Name string
	Type fs.FileMode // only the bits of [fs.ModeType]
}

// Info describes what a name in a [Dir] is.
type Info struct {
	Mode    fs.FileMode
	Size    int64
	ModTime time.Time
}

// OpenDir opens the directory that name leads to. The caller closes it.
func (j *Jail) OpenDir(name string) (*Dir, error) {
	for range attempts {
		d, err := j.openDirOnce(name)
		if d != nil || err != nil {
			return d, failure("open", name, err)
		}
	}
	return nil, failure("open", name, ErrUnstable)
}

// openDirOnce returns nothing at all when the name was swapped under it.
func (j *Jail) openDirOnce(name string) (*Dir, error) {
	p, err := j.existing(name, true)
	if err != nil {
		return nil, err
	}
	if !p.info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	h, same, err := openHandle(p)
	switch {
	case errors.Is(settled(err), errSwapped):
		return nil, nil
	case err != nil:
		return nil, err
	case !same:
		return nil, h.close()
	}
	return &Dir{jail: j, root: p.root, rel: p.rel, handle: h, hides: j.deny.quick()}, nil
}

// Close releases the directory. Those that were opened from it stay open.
func (d *Dir) Close() error { return d.handle.close() }

// Path is the absolute path that the directory had when it was opened.
func (d *Dir) Path() string { return filepath.Join(d.root.dir, d.rel) }

// Entries returns what is in the directory, in no order, and how many names the
// deny list hides. Files that the program itself needs for a moment are not
// there. It is to be called once.
func (d *Dir) Entries() (entries []Entry, hidden int, err error) {
	all, err := d.handle.entries()
	prefix := d.denyPrefix()
	entries = all[:0]
	for _, e := range all {
		switch {
		case d.jail.ours(e.Name):
		case d.hides.denies(prefix, e.Name):
			hidden++
		default:
			entries = append(entries, e)
		}
	}
	return entries, hidden, failure("read", d.Path(), err)
}

// denyPrefix is what the deny list wants before a name in this directory.
func (d *Dir) denyPrefix() string {
	if !d.hides.paths {
		return "" // the name is enough, and is asked about often
	}
	if path := d.root.denyPath(d.rel); path != "." {
		return filepath.ToSlash(path) + "/"
	}
	return ""
}

// Dir opens a directory in d. The caller closes it. What is no directory, or a
// link to one, is an error.
func (d *Dir) Dir(name string) (*Dir, error) {
	below, err := d.dir(name)
	return below, failure("open", name, err)
}

func (d *Dir) dir(name string) (*Dir, error) {
	next, err := d.below(name)
	if err != nil {
		return nil, err
	}
	next.handle, err = d.handle.dir(name)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// below is the directory of a name in d, not yet open.
func (d *Dir) below(name string) (*Dir, error) {
	if err := d.admits(name); err != nil {
		return nil, err
	}
	next := &Dir{jail: d.jail, root: d.root, rel: name, hides: d.hides}
	if d.rel != "." { // cheaper than filepath.Join, which has nothing to clean here
		next.rel = d.rel + string(filepath.Separator) + name
	}
	switch {
	case len(d.root.dir)+1+len(next.rel) > longest:
		return nil, syscall.ENAMETOOLONG
	case d.rel == "." && kernelTree(next.Path()):
		return nil, ErrEscape
	}
	if len(d.jail.roots) > 1 {
		next.root, next.rel = d.jail.rootOf(next.Path())
	}
	return next, nil
}

// admits refuses what is no name of an entry, and what the deny list hides.
func (d *Dir) admits(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsRune(name, filepath.Separator):
		return fs.ErrInvalid
	case strings.ContainsRune(name, 0):
		return ErrNUL
	case d.hides.denies(d.denyPrefix(), name):
		return ErrDenied
	}
	return nil
}

// Open opens a regular file in d for reading. The caller closes it. A link is
// an error.
func (d *Dir) Open(name string) (File, error) {
	if err := d.admits(name); err != nil {
		return File{}, failure("open", name, err)
	}
	f, err := d.handle.open(name)
	return f, failure("open", name, err)
}

// Lstat describes a name in d, a link as itself.
func (d *Dir) Lstat(name string) (Info, error) {
	if err := d.admits(name); err != nil {
		return Info{}, failure("lstat", name, err)
	}
	info, err := d.handle.lstat(name)
	return info, failure("lstat", name, err)
}

// Readlink returns the text of a link in d.
func (d *Dir) Readlink(name string) (string, error) {
	if err := d.admits(name); err != nil {
		return "", failure("readlink", name, err)
	}
	target, err := d.handle.readlink(name)
	return target, failure("readlink", name, err)
}
