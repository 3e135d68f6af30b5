package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links one name may lead through, as in Linux.
const maxLinks = 40

// longest is how many bytes a path may have, as in Linux. Following one takes
// work for each of its parts.
const longest = 4096

// place is where a name ended: a link-free path below a root.
type place struct {
	root *root
	rel  string
	info sight // nil when nothing is there
}

func (p place) abs() string { return filepath.Join(p.root.dir, p.rel) }

// resolve walks name part by part. With follow it goes through a link at the
// end as well; without, the link itself is the place. What does not exist
// resolves too, so that it can be created.
func (j *Jail) resolve(name string, follow bool) (place, error) {
	return j.look(name, look{follow: follow})
}

func (j *Jail) look(name string, how look) (place, error) {
	for range attempts {
		p, err := j.resolveOnce(name, how)
		switch {
		case errors.Is(err, errSwapped):
			continue
		case err == nil && p.root.gone():
			err = ErrGone
		}
		return p, err
	}
	return place{}, ErrUnstable
}

func (j *Jail) resolveOnce(name string, how look) (place, error) {
	if strings.ContainsRune(name, 0) {
		return place{}, ErrNUL
	}
	name = j.Abs("", name)
	if len(name) > longest {
		return place{}, syscall.ENAMETOOLONG
	}
	// A name that spells its way out is refused whatever links would make of it.
	if !j.spells(name) {
		return place{}, ErrEscape
	}
	if p, ok := j.plainly(name, how); ok {
		return p, nil
	}
	w := walk{jail: j, look: how, at: volume(name), todo: parts(name)}
	if r, rel := j.rootOf(name); r != nil { // the way to a root is known
		w.at, w.todo = r.dir, parts(rel)
	}
	for len(w.todo) > 0 {
		next := w.todo[0]
		w.todo = w.todo[1:]
		if err := w.step(next); err != nil {
			return place{}, err
		}
	}
	return w.end()
}

// walk is a resolution under way.
type walk struct {
	jail *Jail
	look
	at      string // where it stands, without links
	missing bool   // nothing is at `at`
	todo    []string
	links   int
}

func (w *walk) step(part string) error {
	switch part {
	case "", ".":
		return nil
	case "..":
		return w.up()
	}
	return w.down(filepath.Join(w.at, part))
}

// up moves to the directory above. Above a root may be another one.
func (w *walk) up() error {
	if w.missing {
		return fs.ErrNotExist
	}
	w.at = filepath.Dir(w.at)
	if r, rel := w.jail.rootOf(w.at); r != nil && w.jail.denied(r, rel) {
		return ErrDenied
	}
	return nil
}

// down moves to next, a name in the directory where the walk stands.
func (w *walk) down(next string) error {
	r, rel := w.jail.rootOf(next)
	switch {
	case r == nil: // outside a root names are only spelled, never looked up
		w.at = next
		return nil
	case rel == ".": // it was looked up when it was opened
		w.at = r.dir
		return nil
	case len(next) > longest:
		return syscall.ENAMETOOLONG
	case kernelTree(next):
		return ErrEscape
	case w.jail.deniedHere(r, rel):
		return ErrDenied
	case w.missing:
		w.at = next
		return nil
	}
	info, err := r.handle.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.at, w.missing = next, true
		return nil
	case errors.Is(err, fs.ErrPermission):
		return unsearchable(w.jail, w.at, err)
	case err != nil:
		return settled(err)
	}
	return w.enter(r, rel, next, info)
}

// enter moves to next, which exists in r, or to where it leads.
func (w *walk) enter(r *root, rel, next string, info fs.FileInfo) error {
	last := len(w.todo) == 0
	switch {
	case info.Mode()&fs.ModeSymlink != 0 && (w.follow || !last):
		if w.links++; w.links > maxLinks {
			return syscall.ELOOP
		}
		target, err := r.handle.Readlink(rel)
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist) {
			return errSwapped // it was a link a moment ago
		}
		if err != nil {
			return settled(err)
		}
		if filepath.IsAbs(target) {
			w.at = volume(target)
		}
		w.todo = append(parts(target), w.todo...)
		return nil
	case !last && !info.IsDir():
		return syscall.ENOTDIR
	}
	w.at = next
	return nil
}

func (w *walk) end() (place, error) {
	r, rel := w.jail.rootOf(w.at)
	if r == nil {
		return place{}, ErrEscape
	}
	// Each step was looked up by its path, and what that meant may have changed
	// from one to the next.
	info, err := r.confirm(rel, w.described)
	if err == nil && w.follow && isLink(info) {
		err = errSwapped
	}
	return place{root: r, rel: rel, info: info}, err
}

// rootOf returns the innermost root that holds name, and the way from there.
func (j *Jail) rootOf(name string) (*root, string) {
	for _, r := range j.inner {
		if name == r.alias {
			return r, "."
		}
	}
	for _, r := range j.inner {
		if rel, ok := r.within(name); ok {
			return r, rel
		}
	}
	return nil, ""
}

func unsearchable(j *Jail, dir string, err error) error {
	if r, rel := j.rootOf(dir); r != nil && rel != "." {
		dir = rel
	}
	return fmt.Errorf("directory %s cannot be searched: %w", dir, cause(err))
}

func volume(name string) string { return filepath.VolumeName(name) + string(filepath.Separator) }

func parts(name string) []string {
	name = filepath.FromSlash(name[len(filepath.VolumeName(name)):])
	return strings.Split(name, string(filepath.Separator))
}
