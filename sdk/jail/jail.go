// Package jail is a filesystem that cannot be left.
//
// A [Jail] is an [afero.Fs] over one or more directories, the roots. Names are
// absolute paths of the real system, so that what goes in and what comes out
// are the paths people know; a relative name is taken from the first root.
//
//	name ──▶ resolve ──▶ (root, link-free path) ──▶ os.Root ──▶ same file? ──▶ afero.File
//	          │ follows links itself, over os.Root          │ no: someone swapped it, start again
//	          └ refuses what ends outside or is denied
//
// Resolving decides what a name means; it is never what keeps the jail shut.
// Every touch of the disk goes through an [os.Root], which the operating system
// holds open by descriptor, so a directory exchanged for a link between two
// steps leads to an error and never outside. Where Linux can look up or open a
// whole path below such a descriptor in one call that goes through no link
// (openat2), that takes the place of as many steps as the path has parts.
//
// Links inside the roots work, also absolute ones and those that lead from one
// root into another. A hard link is a file like any other: a jail cannot know
// that a second name of it exists elsewhere.
package jail

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/afero"
)

var (
	_ afero.Fs         = (*Jail)(nil)
	_ afero.Lstater    = (*Jail)(nil)
	_ afero.LinkReader = (*Jail)(nil)
)

// Options says what a jail holds. All directories are absolute paths.
type Options struct {
	// Roots may be read and written.
	Roots []string
	// ReadOnly roots may be read. Where roots lie inside each other the
	// innermost decides.
	ReadOnly []string
	// Deny holds patterns of names that can be neither seen nor opened nor
	// written, in the manner of a .gitignore; see [DefaultDeny].
	Deny []string
	// Own reports whether a file of this name is one the program itself needs
	// for a moment: the deny list hides it, but does not keep it from being made.
	// Nil: there are none.
	Own func(base string) bool
}

// Jail is a filesystem bounded by its roots. It is safe for concurrent use.
type Jail struct {
	roots []*root // as configured; the first takes relative names
	inner []*root // the same, innermost first
	deny  denyList
	own   func(base string) bool
}

// RootError says which configured directory cannot be a root, and why.
type RootError struct {
	Dir      string
	ReadOnly bool
	Err      error
}

// Error says what is wrong.
func (e *RootError) Error() string { return fmt.Sprintf("%s cannot be a root: %v", e.Dir, e.Err) }

// Unwrap gives the cause.
func (e *RootError) Unwrap() error { return e.Err }

// New opens the roots. The caller closes the jail. An unusable directory is
// reported as a [*RootError], an unusable pattern as a [*PatternError].
func New(o Options) (*Jail, error) {
	deny, err := parseDeny(o.Deny)
	if err != nil {
		return nil, err
	}
	j := &Jail{deny: deny, own: o.Own}
	for _, dir := range o.Roots {
		err = errors.Join(err, j.add(dir, false))
	}
	for _, dir := range o.ReadOnly {
		err = errors.Join(err, j.add(dir, true))
	}
	if err == nil && len(j.roots) == 0 {
		err = errors.New("a jail needs at least one root")
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Jail) add(dir string, readOnly bool) error {
	r, err := openRoot(dir)
	if err != nil {
		return &RootError{Dir: dir, ReadOnly: readOnly, Err: err}
	}
	r.readOnly = readOnly
	j.roots = append(j.roots, r)
	j.inner = append(j.inner, r)
	slices.SortStableFunc(j.inner, func(a, b *root) int {
		// Read-only wins between two spellings of one directory.
		return cmp.Or(cmp.Compare(len(b.dir), len(a.dir)), compareBool(b.readOnly, a.readOnly))
	})
	return nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Close releases the roots. Files that are open stay usable.
func (j *Jail) Close() error {
	var err error
	for _, r := range j.roots {
		err = errors.Join(err, r.close())
	}
	return err
}

// Name implements [afero.Fs].
func (*Jail) Name() string { return "jail" }

// Abs makes name absolute: from dir if dir lies in a root, else from the first
// root. It removes nothing from name: `link/..` must still mean the parent of
// where the link leads.
func (j *Jail) Abs(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if !j.spells(dir) {
		// It may be a third spelling of a place inside.
		//nolint:forbidigo // it only chooses which root a relative name starts from; the name is then opened through that root
		if real, err := filepath.EvalSymlinks(dir); err == nil && j.spells(real) {
			dir = real
		} else {
			dir = j.roots[0].dir
		}
	}
	return dir + string(filepath.Separator) + name
}

// spells reports whether dir is written as a place in a root.
func (j *Jail) spells(dir string) bool {
	return filepath.IsAbs(dir) && slices.ContainsFunc(j.roots, func(r *root) bool { return r.spells(filepath.Clean(dir)) })
}

// Resolve returns the one path that name stands for, without links. The last
// part need not exist. Two names of one file resolve to the same path (hard
// links apart).
func (j *Jail) Resolve(name string) (string, error) {
	p, err := j.resolve(name, true)
	if err != nil {
		return "", failure("resolve", name, err)
	}
	return p.abs(), nil
}

// Writable returns [ErrReadOnly] for what lies in a read-only root. Whether the
// system lets it be written is another question.
func (j *Jail) Writable(name string) error {
	p, err := j.resolve(name, true)
	if err == nil && p.root.readOnly {
		err = ErrReadOnly
	}
	return failure("write", name, err)
}

// PinDir opens the directory dir and returns a jail of just that directory, and
// what closes it. It goes on meaning the same directory when something else
// takes its name.
func (j *Jail) PinDir(dir string) (afero.Fs, func() error, error) {
	pinned, err := j.pin(dir)
	if err != nil {
		return nil, nil, failure("open", dir, err)
	}
	return pinned, pinned.Close, nil
}

func (j *Jail) pin(dir string) (*Jail, error) {
	for range attempts {
		p, err := j.resolve(dir, true)
		if err != nil {
			return nil, err
		}
		if p.info != nil && !p.info.IsDir() {
			return nil, syscall.ENOTDIR
		}
		handle, err := p.root.handle.OpenRoot(p.rel)
		if errors.Is(settled(err), errSwapped) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info, err := handle.Stat("."); err == nil && p.info != nil && same(info, p.info) {
			r := &root{dir: p.abs(), outer: p.root.denyPath(p.rel), handle: handle, readOnly: p.root.readOnly}
			return &Jail{roots: []*root{r}, inner: []*root{r}, deny: j.deny, own: j.own}, nil
		}
		if err := handle.Close(); err != nil {
			return nil, err
		}
	}
	return nil, ErrUnstable
}

// holdsRoot reports whether a root lies at or below name.
func (j *Jail) holdsRoot(name string) bool {
	return slices.ContainsFunc(j.roots, func(r *root) bool {
		_, ok := below(name, r.dir)
		return ok
	})
}
