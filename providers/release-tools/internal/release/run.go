package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/aymanbagabas/go-udiff"
	"github.com/go-git/go-git/v5/plumbing"
)

// undoTime is how long the way back may take after a cancel; a caller gives five seconds until it stops listening.
const undoTime = 4 * time.Second

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

// step is one change. run leaves nothing behind when it fails; undo takes back what it did.
type step struct {
	name   string // "tag"
	status string // before it
	said   string // on standard output after it, "" for nothing
	done   string // "tag created"
	undid  string // on standard output when it was taken back, so that said is not the last word; "" for nothing
	run    func(context.Context) error
	undo   func(context.Context) error
}

// Run makes the release. If it is to be signed and cannot be, that is found out before anything is written.
func (p *Plan) Run(ctx context.Context, rep Reporter) (Result, error) {
	if err := p.repo.CheckSigning(ctx, p.settings.Sign, p.Commit); err != nil {
		return Result{}, p.unbegun(ctx, rep, err)
	}
	before := string(p.file.Content)
	res := Result{Tag: p.Tag, Commit: p.Head}
	steps := p.steps(&res)
	if err := p.take(ctx, steps, rep); err != nil {
		return Result{}, err
	}
	// By lines: a diff by characters shows a heading that stays as removed and added. It fails only on edits that do
	// not fit the text; a release that stands would not fail for it.
	diff, _ := udiff.ToUnified("a/"+p.file.Path, "b/"+p.file.Path, before, udiff.Lines(before, string(p.After)), udiff.DefaultContextLines)
	res.Diff = strings.ToValidUTF8(diff, "\uFFFD") // the file may hold other bytes, a message may not
	return res, nil
}

// unbegun reports a cancel that came before the first step.
func (p *Plan) unbegun(ctx context.Context, rep Reporter, err error) error {
	if ctx.Err() != nil {
		rep.Report("release cancelled before anything was written")
	}
	return err
}

func (p *Plan) steps(res *Result) []step {
	if p.Commit {
		return []step{p.rewriteStep(), p.commitStep(res), p.tagStep(res)}
	}
	return []step{p.tagStep(res), p.rewriteStep()}
}

func (p *Plan) tagStep(res *Result) step {
	var made plumbing.Hash
	return step{
		name: "tag", status: "tagging " + p.Tag, said: "Created tag " + p.Tag + "\n", done: "tag created",
		undid: "Removed tag " + p.Tag + "\n",
		run: func(ctx context.Context) (err error) {
			made, err = p.repo.Tag(ctx, p.Tag, p.message, plumbing.NewHash(res.Commit), p.tagger, p.settings.Sign)
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

func (p *Plan) commitStep(res *Result) step {
	var made repo.Commit
	return step{
		name: "commit", status: "committing " + p.file.Name, said: "Committed " + p.file.Name + "\n", done: "changelog committed",
		undid: "Took back the commit of " + p.file.Name + "\n",
		run: func(ctx context.Context) (err error) {
			made, err = p.repo.CommitFile(ctx, p.file.Path, p.subject, p.settings.Sign)
			res.Commit = made.Hash.String()
			return err
		},
		undo: func(ctx context.Context) error { return p.repo.TakeBack(ctx, made) },
	}
}

// take goes through the steps, listening for the end of ctx between them.
func (p *Plan) take(ctx context.Context, steps []step, rep Reporter) error {
	for i, s := range steps {
		if ctx.Err() != nil {
			return p.stop(ctx, steps, i, rep)
		}
		rep.Status(s.status)
		if err := s.run(ctx); err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return p.stop(ctx, steps, i, rep)
			}
			return fail(ctx, steps[:i], s, err, rep)
		}
		rep.say(s.said)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		rep.Report("the cancel came too late: " + list(steps, func(s step) string { return s.done }))
		return ctx.Err()
	}
	return nil
}

// stop ends the release before step i. A deadline is a failure and undoes; so does a cancel, unless the tag came first.
func (p *Plan) stop(ctx context.Context, steps []step, i int, rep Reporter) error {
	cancelled := errors.Is(ctx.Err(), context.Canceled)
	switch {
	case i == 0:
		return p.unbegun(ctx, rep, ctx.Err())
	case cancelled && !p.Commit:
		rep.Report(fmt.Sprintf("%s; %s cancelled before it ran", list(steps[:i], func(s step) string { return s.done }), steps[i].name))
	default:
		if stands := undo(ctx, steps[:i], rep); stands != nil {
			rep.Report(fmt.Sprintf("release cancelled before its %s; not all of it could be undone: %v", steps[i].name, stands))
			return errors.Join(ctx.Err(), stands)
		}
		rep.Report(fmt.Sprintf("release cancelled before its %s; %s was undone and nothing of it stands",
			steps[i].name, list(steps[:i], func(s step) string { return s.name })))
	}
	return ctx.Err()
}

// fail undoes the steps that were taken and returns the error that ended the release, with what could not be undone.
func fail(ctx context.Context, taken []step, s step, err error, rep Reporter) error {
	stands := undo(ctx, taken, rep)
	if stands != nil {
		return refusal.New("half-released", "the release failed at its %s: %w; not all of it could be undone: %v", s.name, err, stands)
	}
	return refusal.New("release-failed", "the release failed at its %s and nothing of it stands: %w", s.name, err)
}

// undo takes steps back, the last first, and returns what stands because it could not be.
func undo(ctx context.Context, taken []step, rep Reporter) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var stands []error
	for i := len(taken) - 1; i >= 0; i-- {
		if err := taken[i].undo(ctx); err != nil {
			stands = append(stands, fmt.Errorf("%s and still there (%w)", taken[i].done, err))
			continue
		}
		rep.say(taken[i].undid)
	}
	return errors.Join(stands...)
}

func list(steps []step, text func(step) string) string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = text(s)
	}
	return strings.Join(texts, ", ")
}
