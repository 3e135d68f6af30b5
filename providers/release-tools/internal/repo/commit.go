package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit is a commit that was made here and can be taken back.
type Commit struct {
	Hash   plumbing.Hash
	parent plumbing.Hash
	ref    plumbing.ReferenceName
	index  []byte // the index as it was before
}

// CommitFile commits one tracked file, whatever else is staged, with git's hooks, filters and signing. It either exists
// afterwards or the index is as it was.
func (r *Repo) CommitFile(ctx context.Context, path, message string, s Signing) (Commit, error) {
	before, err := os.ReadFile(r.path("index"))
	if err != nil {
		return Commit{}, err
	}
	c := Commit{parent: r.Head.Commit, ref: r.Head.ref, index: before}
	if now, err := r.readHead(); err != nil || now != r.Head {
		return c, errors.Join(fmt.Errorf("HEAD moved since the release was checked; look at it and try again"), err)
	}
	_, err = r.run(ctx, call{args: r.commitArgs(path, s), input: message})
	at, lost := r.git.Reference(c.ref, true)
	if lost != nil {
		return c, errors.Join(err, lost)
	}
	c.Hash = at.Hash()
	if c.Hash == c.parent {
		if err == nil {
			err = fmt.Errorf("git commit left %s where it was", c.ref.Short())
		}
		return c, errors.Join(err, r.restoreIndex(before))
	}
	return c, r.checkParent(c)
}

func (r *Repo) commitArgs(path string, s Signing) []string {
	args := append(s.format(), "-c", "i18n.commitEncoding=UTF-8", "commit", "--quiet", "--only", "--cleanup=whitespace", "-F", "-")
	switch {
	case r.signsCommits(s):
		args = append(args, "-S")
	default:
		args = append(args, "--no-gpg-sign")
	}
	return append(args, "--", literal(path))
}

// checkParent makes sure that the commit at the tip is the one made here.
func (r *Repo) checkParent(c Commit) error {
	made, err := r.git.CommitObject(c.Hash)
	if err != nil {
		return err
	}
	if len(made.ParentHashes) != 1 || made.ParentHashes[0] != c.parent {
		return fmt.Errorf("%s moved to %s while the release was being committed", c.ref.Short(), c.Hash)
	}
	return nil
}

// TakeBack undoes a commit that is still the tip of its branch, index included.
func (r *Repo) TakeBack(ctx context.Context, c Commit) error {
	if err := r.moveRef(ctx, c.ref, c.parent, c.Hash); err != nil {
		return err
	}
	return r.restoreIndex(c.index)
}

// Holds reports whether a commit has a path as git would store a file with that content.
func (r *Repo) Holds(ctx context.Context, c Commit, path string, content []byte) (bool, error) {
	entry, err := r.committed(c, path)
	if err != nil {
		return false, err
	}
	blob, err := r.Stored(ctx, path, content)
	return entry.Hash.String() == blob, err
}

// StageCommitted gives the index what a commit has for a path. A hook that stages something else only reaches the index
// that git commit --only made for it.
func (r *Repo) StageCommitted(ctx context.Context, c Commit, path string) error {
	entry, err := r.committed(c, path)
	if err != nil {
		return err
	}
	_, err = r.SetIndexEntry(ctx, path, fmt.Sprintf("%o,%s", uint32(entry.Mode), entry.Hash))
	return err
}

func (r *Repo) committed(c Commit, path string) (*object.TreeEntry, error) {
	made, err := r.git.CommitObject(c.Hash)
	if err != nil {
		return nil, err
	}
	tree, err := made.Tree()
	if err != nil {
		return nil, err
	}
	entry, err := tree.FindEntry(path)
	if err != nil {
		return nil, fmt.Errorf("the commit has no %s: %w", path, err)
	}
	return entry, nil
}

// restoreIndex puts the bytes of the index back, under git's lock.
func (r *Repo) restoreIndex(want []byte) error {
	name := r.path("index")
	if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, want) {
		return nil
	}
	lock, err := os.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("the index was not restored: %w", err)
	}
	_, err = lock.Write(want)
	err = errors.Join(err, lock.Close())
	if err == nil {
		err = os.Rename(lock.Name(), name)
	}
	if err != nil {
		_ = os.Remove(lock.Name())
		return fmt.Errorf("the index was not restored: %w", err)
	}
	return nil
}
