package release

import (
	"context"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/go-git/go-git/v5/plumbing"
)

// Undo is the way back from a release, checked and not begun.
type Undo struct {
	Version string
	Parts   []string // what it takes back, in words

	s    standing
	repo *repo.Repo
}

// PrepareUndo checks that all there is of a release is exactly what it made, and that it is not known to be pushed. It
// writes nothing and asks nobody.
func PrepareUndo(ctx context.Context, s Settings, dir, version string, now time.Time) (*Undo, error) {
	v, err := parseVersion(version)
	if err != nil {
		return nil, err
	}
	r, err := s.open(ctx, dir, now)
	if err != nil {
		return nil, err
	}
	if op := r.Underway(); op != "" {
		return nil, refusal.New("operation-in-progress", "a %s is under way in %s: end or abort it first", op, r.Root)
	}
	tag := s.TagPrefix + v.String()
	rec, err := readRecord(r, tag)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, unknownRelease(ctx, r, tag)
	}
	u := &Undo{Version: v.String(), repo: r}
	if u.s, err = inspect(ctx, r, rec); err != nil {
		return nil, err
	}
	return u, u.check(ctx)
}

func unknownRelease(ctx context.Context, r *repo.Repo, tag string) error {
	hash, _, err := r.ReadTag(ctx, tag)
	switch {
	case err != nil:
		return err
	case hash.IsZero():
		return refusal.Missing("unknown-release", "there is no release %s in %s to take back", tag, r.Root)
	}
	return refusal.New("not-made-here", "tag %s was not made by release in this working tree, so it stays: git tag -d %s deletes it", tag, tag)
}

func (u *Undo) check(ctx context.Context) error {
	rec := u.s.rec
	there, _ := u.s.parts()
	switch {
	case u.s.moved != "":
		return refusal.New("moved-on", "cannot take %s back: %s", rec.Tag, u.s.moved)
	case u.s.others:
		return refusal.New("tag-changed", "cannot take %s back: the tag is no longer the one that was made; git show %s tells whose it is", rec.Tag, rec.Tag)
	case u.s.edited:
		return refusal.New("changelog-changed", "cannot take %s back: %s was changed after the release; set that aside first, or git tag -d %s and go on from here",
			rec.Tag, rec.Path, rec.Tag)
	case len(there) == 0:
		return refusal.Missing("nothing-to-undo", "nothing is left of release %s in %s", rec.Tag, u.repo.Root)
	}
	u.Parts = there
	if u.s.commit.IsZero() {
		return nil
	}
	return u.repo.CheckUnpushed(ctx, u.s.commit)
}

// Path is that of the changelog, from the root of the repository.
func (u *Undo) Path() string { return u.s.rec.Path }

// Changelog returns what the changelog holds and what it will.
func (u *Undo) Changelog() (before, after []byte) { return u.s.file.Content, u.s.rec.Before }

// Undone says what was taken back.
type Undone struct {
	Tag, Commit string // what is gone: its name, its hash; "" if there was none
	Head        string // where HEAD is now
	Diff        string // of the changelog; "" if it had not been rewritten
}

// Run asks the remotes whether they have the release and, if none does, takes it back, all or nothing: a step that fails,
// or a cancel, puts back what went before it.
func (u *Undo) Run(ctx context.Context, rep Reporter) (Undone, error) {
	if err := u.repo.AskRemotes(ctx, u.s.rec.Tag, u.s.commit); err != nil {
		return Undone{}, unbegun(ctx, "undo", rep, err)
	}
	unlock, err := u.repo.Lock()
	if err != nil {
		return Undone{}, err
	}
	defer unlock()
	out := Undone{Head: u.s.rec.Head}
	if !u.s.tag.IsZero() {
		out.Tag = u.s.rec.Tag
	}
	if !u.s.commit.IsZero() {
		out.Commit = u.s.commit.String()
	}
	if u.s.rewritten() {
		before, after := u.Changelog()
		out.Diff = Unified(u.Path(), before, after)
	}
	return out, u.sequence().take(ctx, rep)
}

func (u *Undo) sequence() sequence {
	seq := sequence{noun: "undo", nothing: "the release stands as before", failed: "undo-failed", half: "half-undone"}
	if !u.s.tag.IsZero() {
		seq.steps = append(seq.steps, u.dropTag())
	}
	if !u.s.commit.IsZero() {
		seq.steps = append(seq.steps, u.dropCommit())
	}
	if u.s.staged {
		seq.steps = append(seq.steps, u.unstage())
	}
	if u.s.rewritten() {
		seq.steps = append(seq.steps, u.rewriteBack())
	}
	seq.steps = append(seq.steps, u.forget())
	return seq
}

func (u *Undo) dropTag() step {
	tag := u.s.rec.Tag
	return step{
		name: "tag", status: "removing tag " + tag, said: "Removed tag " + tag + "\n", done: "tag removed", undid: "Put tag " + tag + " back\n",
		run:  func(ctx context.Context) error { return u.repo.DropTag(context.WithoutCancel(ctx), tag, u.s.tag) },
		undo: func(ctx context.Context) error { return u.repo.PutTag(ctx, tag, u.s.tag) },
	}
}

func (u *Undo) dropCommit() step {
	head := plumbing.NewHash(u.s.rec.Head)
	return step{
		name: "commit", status: "taking back the commit of " + u.Path(), said: "Took back the commit of " + u.Path() + "\n", done: "commit taken back",
		undid: "Put the commit of " + u.Path() + " back\n",
		run:   func(ctx context.Context) error { return u.repo.MoveBranch(ctx, u.s.commit, head) },
		undo:  func(ctx context.Context) error { return u.repo.MoveBranch(ctx, head, u.s.commit) },
	}
}

func (u *Undo) unstage() step {
	var back func() error
	return step{
		name: "index", done: "index restored",
		run: func(ctx context.Context) (err error) {
			back, err = u.repo.SetIndexEntry(ctx, u.Path(), u.s.rec.Entry)
			return err
		},
		undo: func(context.Context) error { return back() },
	}
}

func (u *Undo) rewriteBack() step {
	return restore(u.s.file, u.s.rec.Before)
}

func restore(file *textfile.File, content []byte) step {
	now := file.Content
	return step{
		name: "changelog", status: "restoring " + file.Name, done: "changelog restored",
		run:  func(ctx context.Context) error { return file.Replace(ctx, content) },
		undo: func(ctx context.Context) error { return file.Replace(ctx, now) },
	}
}

// forget is last: until then a process that is killed can be followed by another undo.
func (u *Undo) forget() step {
	return step{
		name: "record", quiet: true,
		run:  func(context.Context) error { return u.repo.DropNote(u.s.rec.Tag) },
		undo: func(context.Context) error { return u.s.rec.write(u.repo) },
	}
}
