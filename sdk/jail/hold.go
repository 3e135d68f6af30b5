package jail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// held is the directory that a place is in, open. Whatever is exchanged in the
// paths above, what is done by base is done where the place was found: a link
// that stays in a root, but leads to a read-only or a denied part of it, would
// stop no [os.Root].
type held struct {
	*os.Root
	base  string
	owned bool // else it is the root's own handle
}

// hold opens the directory of p. It returns errSwapped when that is not any more
// where it was. The caller releases it.
func (p place) hold() (held, error) {
	dir, base := filepath.Split(p.rel)
	if dir == "" {
		return held{Root: p.root.handle, base: base}, nil
	}
	dir = filepath.Clean(dir)
	info, err := p.root.confirm(dir, false)
	switch {
	case err != nil:
		return held{}, err
	case info == nil:
		return held{}, fs.ErrNotExist
	case isLink(info):
		return held{}, errSwapped
	case !info.IsDir():
		return held{}, syscall.ENOTDIR
	}
	handle, err := openExactly(p.root.handle, dir, info)
	return held{Root: handle, base: base, owned: true}, err
}

func (h held) release() error {
	if h.owned {
		return h.Close()
	}
	return nil
}

// openExactly opens the directory at rel if it still is the one info describes.
func openExactly(from *os.Root, rel string, info sight) (*os.Root, error) {
	dir, err := from.OpenRoot(rel)
	if err != nil {
		return nil, settled(err)
	}
	now, err := dir.Stat(".")
	if err == nil && !same(now, info) {
		err = errSwapped
	}
	if err != nil {
		return nil, firstError(err, dir.Close())
	}
	return dir, nil
}

// confirm describes what is at rel, which is followed through no link, or
// returns nil if nothing is there. It returns errSwapped if there is a link on
// the way after all.
func (r *root) confirm(rel string, described bool) (sight, error) {
	if info, certain := r.plain(rel, described); certain {
		return info, nil
	}
	return r.descend(rel)
}

// descend is confirm by one directory after the other, where the system cannot
// do it at once.
func (r *root) descend(rel string) (info sight, err error) {
	at := held{Root: r.handle}
	defer func() { err = firstError(err, at.release()) }()
	steps := parts(rel)
	for i, part := range steps {
		info, err = at.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, settled(err)
		case i == len(steps)-1:
			return info, nil
		case !info.IsDir():
			return nil, errSwapped
		}
		below, err := openExactly(at.Root, part, info)
		if err = firstError(err, at.release()); err != nil {
			at = held{}
			return nil, err
		}
		at = held{Root: below, owned: true}
	}
	return info, nil
}

// settle does what may find that a path was exchanged meanwhile, until it does
// not.
func settle(op, name string, do func() error) error {
	for range attempts {
		if err := do(); !errors.Is(err, errSwapped) {
			return failure(op, name, err)
		}
	}
	return failure(op, name, ErrUnstable)
}
