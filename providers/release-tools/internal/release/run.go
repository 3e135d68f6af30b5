package release

import (
	"context"
	"io"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/aymanbagabas/go-udiff"
	"github.com/go-git/go-git/v5/plumbing"
)

// Reporter hears what happens while it happens.
type Reporter struct {
	Status func(message string) // before a step
	Stdout io.Writer            // after a step
	Report func(note string)    // once, after a cancel: what stands
}

// Result says what was made.
type Result struct {
	Tag    string
	Commit string // that the tag points to
	Diff   string // of the changelog, unified
}

// say writes to standard output. A listener that is gone takes nothing back.
func (r Reporter) say(line string) {
	if line != "" {
		_, _ = io.WriteString(r.Stdout, line)
	}
}

// Run makes the release. If it is to be signed and cannot be, that is found out before anything is written.
func (p *Plan) Run(ctx context.Context, rep Reporter) (Result, error) {
	if err := p.repo.CheckSigning(ctx, p.settings.Sign, p.Commit); err != nil {
		return Result{}, unbegun(ctx, "release", rep, err)
	}
	unlock, err := p.repo.Lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	before := p.file.Content
	res := Result{Tag: p.Tag, Commit: p.Head}
	rec := p.record()
	if err := p.sequence(rec, &res).take(ctx, rep); err != nil {
		return Result{}, err
	}
	rec.prune(p.repo)
	res.Diff = Unified(p.file.Path, before, p.After)
	return res, nil
}

// Unified is the difference by lines: one by characters shows a heading that stays as removed and added. It fails only on
// edits that do not fit the text; a release that stands would not fail for it. A file may hold bytes that are no UTF-8, a
// message may not.
func Unified(path string, before, after []byte) string {
	diff, _ := udiff.ToUnified("a/"+path, "b/"+path, string(before), udiff.Lines(string(before), string(after)), udiff.DefaultContextLines)
	return strings.ToValidUTF8(diff, "\uFFFD")
}

func (p *Plan) sequence(rec *record, res *Result) sequence {
	seq := sequence{noun: "release", nothing: "nothing of it stands", failed: "release-failed", half: "half-released", stays: !p.Commit}
	if p.Commit {
		seq.steps = []step{p.recordStep(rec), p.rewriteStep(), p.commitStep(rec, res), p.tagStep(rec, res)}
	} else {
		seq.steps = []step{p.recordStep(rec), p.tagStep(rec, res), p.rewriteStep()}
	}
	return seq
}

// recordStep writes down what is about to be made, for release-undo and for whoever comes after a kill. The way back leaves
// the record of another process that released the same meanwhile.
func (p *Plan) recordStep(rec *record) step {
	var others []byte
	return step{
		name: "record", quiet: true,
		run: func(context.Context) error {
			others, _ = p.repo.ReadNote(p.Tag)
			return rec.write(p.repo)
		},
		undo: func(context.Context) error {
			if others != nil {
				return p.repo.WriteNote(p.Tag, others)
			}
			return p.repo.DropNote(p.Tag)
		},
	}
}

func (p *Plan) tagStep(rec *record, res *Result) step {
	var made plumbing.Hash
	return step{
		name: "tag", status: "tagging " + p.Tag, said: "Created tag " + p.Tag + "\n", done: "tag created",
		undid: "Removed tag " + p.Tag + "\n",
		run: func(ctx context.Context) (err error) {
			made, err = p.repo.Tag(ctx, p.Tag, p.message, plumbing.NewHash(res.Commit), p.tagger, p.settings.Sign)
			if err == nil {
				rec.remember(p.repo, plumbing.ZeroHash, made)
			}
			return err
		},
		undo: func(ctx context.Context) error { return p.repo.DropTag(ctx, p.Tag, made) },
	}
}

func (p *Plan) rewriteStep() step {
	before := p.file.Content
	return step{
		name: "changelog rewrite", status: "rewriting " + p.file.Name, done: "changelog rewritten",
		run:  func(ctx context.Context) error { return p.file.Replace(ctx, p.After) },
		undo: func(ctx context.Context) error { return p.file.Replace(ctx, before) },
	}
}

func (p *Plan) commitStep(rec *record, res *Result) step {
	var made repo.Commit
	return step{
		name: "commit", status: "committing " + p.file.Name, said: "Committed " + p.file.Name + "\n", done: "changelog committed",
		undid: "Took back the commit of " + p.file.Name + "\n",
		run: func(ctx context.Context) (err error) {
			made, err = p.repo.CommitFile(ctx, p.file.Path, p.subject, p.settings.Sign)
			if err = p.heedHooks(ctx, rec, made, err); err != nil {
				return err
			}
			res.Commit = made.Hash.String()
			rec.remember(p.repo, made.Hash, plumbing.ZeroHash)
			return nil
		},
		undo: func(ctx context.Context) error { return p.repo.TakeBack(ctx, made) },
	}
}
