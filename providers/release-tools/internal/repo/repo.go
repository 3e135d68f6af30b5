// Package repo reads and changes the git repository that is being released.
//
// go-git does the work: finding HEAD and its branch in linked worktrees and submodules, reading what was made here and writing
// tags. It is not told of the configuration, of which it takes less than git does. The git binary is asked only for what
// go-git v5 measurably gets wrong or does not do:
//
//	effective settings    includes, conditional includes, worktree config, environment   git config, git var
//	is the tree clean     line-ending conversion, attributes, index v4, submodules       git status
//	committing a file     clean filters, hooks, signing, reflog, the index's formats     git commit
//	a signed tag          gpg and ssh keys as the user set them up                       git tag -s
//	listing tags          one that is being written elsewhere fails go-git's whole list  git for-each-ref
//	reading objects       those borrowed from another repository (clone --shared)        git cat-file
//	where remotes are     what is written short (insteadOf), where they are pushed to    git remote
//	reading history       go-git walks all the past of a tag to know what is not in it:  git log
//	                      30 times as long for 300 of 10,000 commits (BenchmarkHistory)
//	moving a ref          git's lock files; go-git truncates the ref in place            git update-ref
//
// Nothing here prompts, opens an editor or leaves a process behind. Untracked files are never looked at: they are part of
// neither the tag nor the commit, so they never stand in the way of a release.
package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// Repo is an open repository with a working tree. It holds no files open.
type Repo struct {
	Root     string // of the working tree, links resolved
	Settings Settings
	Head     Head

	git    *git.Repository
	gitDir string // of this working tree
	common string // shared by all working trees
	now    time.Time
	env    []string
}

// Lock keeps other releases out of this working tree until it is unlocked, or this process ends however it does.
func (r *Repo) Lock() (unlock func(), err error) {
	file, held, err := hold(r.gitDir)
	if err != nil {
		return nil, refusal.New("unsupported-repository", "cannot open %s: %w", r.gitDir, err)
	}
	if !held {
		return nil, refusal.New("release-underway", "another release or undo is under way in %s: wait until it has ended, then look at what it made", r.Root)
	}
	return func() { _ = file.Close() }, nil
}

// Head is where the repository stood when it was opened.
type Head struct {
	Commit plumbing.Hash
	Branch string                 // "" when detached
	ref    plumbing.ReferenceName // what moves: HEAD, the branch, or the one that the branch is another name of
}

// Open opens the repository whose working tree holds dir. now is the time that tags and commits get, and env what git gets
// besides the environment of this process, each as NAME=value.
func Open(ctx context.Context, dir string, now time.Time, env ...string) (*Repo, error) {
	loc, err := locate(dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{Root: loc.root, gitDir: loc.gitDir, common: loc.common, now: now, env: env}
	if r.git, err = open(loc); err != nil {
		return nil, err
	}
	if r.Settings, err = r.readSettings(ctx); err != nil {
		return nil, err
	}
	if err = r.checkRoot(); err != nil {
		return nil, err
	}
	r.Head, err = r.readHead()
	return r, err
}

// checkRoot refuses a repository whose files lie in another place than beside it: the changelog there is another one.
func (r *Repo) checkRoot() error {
	at := r.Settings["core.worktree"]
	if at == "" || r.gitDir != r.common { // git heeds it for the first working tree alone
		return nil
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(r.gitDir, at)
	}
	beside, err := os.Stat(r.Root)
	if err != nil {
		return refusal.New("unsupported-repository", "cannot look at %s: %w", r.Root, err)
	}
	if there, err := os.Stat(at); err == nil && os.SameFile(there, beside) {
		return nil
	}
	return refusal.New("unsupported-repository", "the files of the repository at %s lie at %s (core.worktree), which is not supported here; tag it with git itself", r.Root, at)
}

func (r *Repo) readHead() (Head, error) {
	ref, err := r.git.Reference(plumbing.HEAD, false)
	if err != nil {
		return Head{}, refusal.New("unsupported-repository", "cannot read HEAD of %s: %w", r.Root, err)
	}
	if ref.Type() == plumbing.HashReference {
		return Head{Commit: ref.Hash(), ref: plumbing.HEAD}, nil
	}
	branch := ref.Target().Short()
	tip, err := r.git.Reference(ref.Target(), true)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		if _, there := os.Lstat(r.commonPath(ref.Target().String())); there == nil {
			return Head{}, refusal.New("unsupported-repository", "cannot read branch %s of %s: its file names no commit, as a crash may leave it; "+
				"git reflog tells where it was, and git update-ref puts it back there", branch, r.Root)
		}
		return Head{}, refusal.New("no-commit", "branch %s of %s has no commit yet: a release needs one to tag", branch, r.Root)
	}
	if err != nil {
		return Head{}, refusal.New("unsupported-repository", "cannot read branch %s of %s: %w", branch, r.Root, err)
	}
	return Head{Commit: tip.Hash(), Branch: branch, ref: tip.Name()}, nil
}

// Shallow reports whether the history was cut off when the repository was cloned.
func (r *Repo) Shallow() bool {
	info, err := os.Stat(r.commonPath("shallow"))
	return err == nil && info.Size() > 0
}

// Underway names the operation (a merge, a rebase) that git has begun here and not ended, or "".
func (r *Repo) Underway() string {
	for _, op := range []struct{ file, name string }{
		{"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
		{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"},
	} {
		if _, err := os.Stat(r.path(op.file)); err == nil {
			return op.name
		}
	}
	return ""
}
