package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// undoTime is how long the way back may take after a cancel; a caller gives five seconds until it stops listening.
const undoTime = 4 * time.Second

// step is one change. run leaves nothing behind when it fails; undo takes back what it did.
type step struct {
	name   string // "tag"
	quiet  bool   // nobody outside sees what it does
	status string // before it, "" for nothing
	said   string // on standard output after it, "" for nothing
	done   string // "tag created"
	undid  string // on standard output when it was taken back, so that said is not the last word; "" for nothing
	run    func(context.Context) error
	undo   func(context.Context) error
}

// outcome is what a step that was taken has done.
func (s step) outcome() string {
	if s.quiet {
		return s.name + " written"
	}
	return s.done
}

// sequence is steps that are taken all or not at all.
type sequence struct {
	noun         string // "release"
	nothing      string // what is true when all of it was undone
	failed, half string // the kinds of its refusals: nothing of it is left, or some of it
	stays        bool   // a cancel leaves what is done
	steps        []step
}

// take goes through the steps, listening for the end of ctx between them.
func (seq sequence) take(ctx context.Context, rep Reporter) error {
	for i, s := range seq.steps {
		if ctx.Err() != nil {
			return seq.stop(ctx, i, rep)
		}
		if s.status != "" {
			rep.Status(s.status)
		}
		if err := s.run(ctx); err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return seq.stop(ctx, i, rep)
			}
			return seq.fail(ctx, i, err, rep)
		}
		rep.say(s.said)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		rep.Report("the cancel came too late: " + list(seq.steps, func(s step) string { return s.done }))
		return ctx.Err()
	}
	return nil
}

// stop ends the sequence before step i. A deadline is a failure and undoes; so does a cancel, unless what is done stays.
func (seq sequence) stop(ctx context.Context, i int, rep Reporter) error {
	taken, next := seq.steps[:i], seq.steps[i].name
	visible := slices.ContainsFunc(taken, func(s step) bool { return !s.quiet })
	if visible && seq.stays && errors.Is(ctx.Err(), context.Canceled) {
		rep.Report(fmt.Sprintf("%s; %s cancelled before it ran", list(taken, func(s step) string { return s.done }), next))
		return ctx.Err()
	}
	stands := undo(ctx, taken, rep)
	switch {
	case stands != nil:
		rep.Report(fmt.Sprintf("%s cancelled before its %s; not all of it could be undone: %v", seq.noun, next, stands))
		return errors.Join(ctx.Err(), stands)
	case !visible:
		return unbegun(ctx, seq.noun, rep, ctx.Err())
	}
	rep.Report(fmt.Sprintf("%s cancelled before its %s; %s was undone and %s", seq.noun, next, list(taken, func(s step) string { return s.name }), seq.nothing))
	return ctx.Err()
}

// unbegun reports a cancel that came before anything was done.
func unbegun(ctx context.Context, noun string, rep Reporter, err error) error {
	if ctx.Err() != nil {
		rep.Report(noun + " cancelled before anything was written")
	}
	return err
}

// fail undoes the steps before i and returns the error that ended the sequence, with what could not be undone.
func (seq sequence) fail(ctx context.Context, i int, err error, rep Reporter) error {
	if stands := undo(ctx, seq.steps[:i], rep); stands != nil {
		return refusal.New(seq.half, "the %s failed at its %s: %w; not all of it could be undone: %v", seq.noun, seq.steps[i].name, err, stands)
	}
	return refusal.New(seq.failed, "the %s failed at its %s and %s: %w", seq.noun, seq.steps[i].name, seq.nothing, err)
}

// undo takes steps back, the last first, and returns what stands because it could not be.
func undo(ctx context.Context, taken []step, rep Reporter) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var stands []error
	for i := len(taken) - 1; i >= 0; i-- {
		if taken[i].quiet && len(stands) > 0 { // the record of what stands is still needed
			break
		}
		if err := taken[i].undo(ctx); err != nil {
			stands = append(stands, fmt.Errorf("%s and still so (%w)", taken[i].outcome(), err))
			continue
		}
		rep.say(taken[i].undid)
	}
	return errors.Join(stands...)
}

// list joins what is to say about the steps that others see.
func list(steps []step, text func(step) string) string {
	var texts []string
	for _, s := range steps {
		if !s.quiet {
			texts = append(texts, text(s))
		}
	}
	return strings.Join(texts, ", ")
}
