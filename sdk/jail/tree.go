package jail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Tree is what lies at a name: a file, a link, or a directory with all below it.
type Tree struct {
	Entries int   // files, links and directories, the name itself included
	Bytes   int64 // in regular files
}

// deepest is how many levels a tree may have: each one under way holds a
// descriptor.
const deepest = 512

// ErrTooDeep means that a tree has more levels than can be walked at once.
var ErrTooDeep error = invalid(fmt.Sprintf("it has more than %d levels of directories", deepest))

// Survey counts what lies at name, without following links. It fails with
// [ErrRoot] if that holds a root, and with [ErrDenied] if the deny list hides a
// part of it: a tree is taken whole or not at all.
func (j *Jail) Survey(ctx context.Context, name string) (Tree, error) {
	p, dir, err := j.entry("survey", name, false)
	if err != nil {
		return Tree{}, err
	}
	t := trunk{ctx: ctx, jail: j, place: p}
	err = t.survey(dir.Root, dir.base, p.rel, 0)
	return t.found, failure("survey", name, firstError(err, dir.release()))
}

// RemoveTree removes what lies at name, links themselves and not what they lead
// to, and says how many entries that were. What [Jail.Survey] refuses stays
// whole, and what holds a directory that cannot be emptied. When ctx ends, or an
// entry cannot be removed, the rest stays and removed says how much is gone.
func (j *Jail) RemoveTree(ctx context.Context, name string) (removed int, err error) {
	p, dir, err := j.entry("remove", name, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = failure("remove", name, firstError(err, dir.release())) }()
	t := trunk{ctx: ctx, jail: j, place: p, clear: true}
	if err := t.survey(dir.Root, dir.base, p.rel, 0); err != nil {
		return 0, err
	}
	return t.remove(dir.Root, dir.base, p.rel, 0)
}

// entry finds what is at name, a link included, and holds its directory.
func (j *Jail) entry(op, name string, write bool) (p place, dir held, err error) {
	err = settle(op, name, func() error {
		p, err = j.existing(name, false)
		switch {
		case err != nil:
			return err
		case write && p.root.readOnly:
			return ErrReadOnly
		case j.holdsRoot(p.abs()):
			return ErrRoot
		}
		dir, err = p.hold()
		return err
	})
	return p, dir, err
}

// trunk is a walk of a whole tree, hidden parts included. It goes down by open
// directories only: what is swapped for a link is not entered.
type trunk struct {
	ctx   context.Context
	jail  *Jail
	place place
	clear bool // it is to be removed
	found Tree
}

func (t *trunk) survey(dir *os.Root, base, rel string, level int) error {
	if rel != t.place.rel && t.jail.deniedHere(t.place.root, rel) {
		return errDeniedPart
	}
	info, err := dir.Lstat(base)
	if err != nil {
		return err
	}
	t.found.Entries++
	if info.Mode().IsRegular() {
		t.found.Bytes += info.Size()
	}
	return t.below(dir, base, level, info, func(sub *os.Root, name string) error {
		return t.survey(sub, name, filepath.Join(rel, name), level+1)
	})
}

func (t *trunk) remove(dir *os.Root, base, rel string, level int) (removed int, err error) {
	info, err := dir.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // another was faster
	}
	if err != nil {
		return 0, err
	}
	if rel != t.place.rel && t.jail.deniedHere(t.place.root, rel) { // it has come since the survey
		return 0, errDeniedPart
	}
	err = t.below(dir, base, level, info, func(sub *os.Root, name string) error {
		n, err := t.remove(sub, name, filepath.Join(rel, name), level+1)
		removed += n
		return err
	})
	if err == nil {
		err = dir.Remove(base)
	}
	if err == nil {
		removed++
	}
	return removed, err
}

// below calls do for everything in the directory base, which is known as info.
func (t *trunk) below(dir *os.Root, base string, level int, info fs.FileInfo, do func(sub *os.Root, name string) error) error {
	if err := t.ctx.Err(); err != nil || !info.IsDir() {
		return err
	}
	if level >= deepest {
		return ErrTooDeep
	}
	sub, err := dir.OpenRoot(base)
	if err != nil {
		return err
	}
	names, err := t.namesOf(sub, info)
	for i := 0; i < len(names) && err == nil; i++ {
		err = do(sub, names[i])
	}
	return firstError(err, sub.Close())
}

// namesOf lists dir if it still is the directory that info describes.
func (t *trunk) namesOf(dir *os.Root, info fs.FileInfo) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, info) {
		err = ErrUnstable
	}
	var names []string
	if err == nil {
		names, err = f.Readdirnames(-1)
	}
	if err == nil && t.clear && len(names) > 0 {
		err = emptiable(f)
	}
	return names, firstError(err, f.Close())
}
