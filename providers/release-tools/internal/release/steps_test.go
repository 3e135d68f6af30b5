package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// scene is one of the sequences there are. The tests below go through whatever steps it has, so that a new one is tried
// the day it is written.
type scene struct {
	name   string
	commit bool
	undo   bool
}

var scenes = []scene{
	{"release", false, false}, {"release with commit", true, false},
	{"undo", false, true}, {"undo with commit", true, true},
}

// lay makes the repository that the sequence starts from. The notes have been edited and something else is staged.
func (s scene) lay(t *testing.T) *gittest.Repo {
	r := gittest.New(t)
	r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "category\n", "category\n- Late entry\n", 1))
	r.Write("g.txt", "staged\n")
	r.Git("add", "g.txt")
	if s.undo {
		_, err := s.plan(t, r.Dir).Run(t.Context(), new(ear).reporter())
		require.NoError(t, err)
	}
	return r
}

func (s scene) settings() Settings {
	out := settings
	out.Commit, out.AllowDirty = s.commit, true
	return out
}

func (s scene) plan(t *testing.T, dir string) *Plan {
	p, err := Prepare(t.Context(), s.settings(), Request{Dir: dir, Version: "1.4.0", Now: time.Now()})
	require.NoError(t, err)
	return p
}

func (s scene) sequence(t *testing.T, dir string) sequence {
	if !s.undo {
		return sequenceOf(s.plan(t, dir))
	}
	u, err := PrepareUndo(t.Context(), s.settings(), dir, "1.4.0", time.Now())
	require.NoError(t, err)
	return u.sequence()
}

// eachStep calls back for every step of every sequence.
func eachStep(t *testing.T, try func(t *testing.T, s scene, i int)) {
	for _, s := range scenes {
		for i, step := range s.sequence(t, s.lay(t).Dir).steps {
			t.Run(fmt.Sprintf("%s/%d %s", s.name, i, step.name), func(t *testing.T) { try(t, s, i) })
		}
	}
}

// Whatever step fails, everything is as before, byte for byte, and the first error is the one shown.
func TestFailureAtEveryStep(t *testing.T) {
	eachStep(t, func(t *testing.T, s scene, i int) {
		r := s.lay(t)
		before := r.Snapshot()
		seq := s.sequence(t, r.Dir)
		disk := errors.New("no space left on device")
		seq.steps[i].run = func(context.Context) error { return disk }
		var e ear
		err := seq.take(t.Context(), e.reporter())
		require.ErrorIs(t, err, disk)
		require.ErrorContains(t, err, "the "+seq.noun+" failed at its "+seq.steps[i].name+" and "+seq.nothing)
		require.Equal(t, before, r.Snapshot())
		require.Empty(t, e.notes)
	})
}

// A cancel before, at the start of, or right after any step: what the report says stands is what stands.
func TestCancelAtEveryStep(t *testing.T) {
	for _, when := range []string{"before", "at", "after"} {
		t.Run(when, func(t *testing.T) {
			eachStep(t, func(t *testing.T, s scene, i int) {
				r := s.lay(t)
				before := r.Snapshot()
				seq := s.sequence(t, r.Dir)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				wrapped := seq.steps[i].run
				seq.steps[i].run = func(ctx context.Context) error {
					if when == "at" {
						cancel()
					}
					err := wrapped(ctx)
					cancel()
					return err
				}
				if when == "before" && i == 0 {
					cancel()
				} else if when == "before" {
					earlier := seq.steps[i-1].run
					seq.steps[i-1].run = func(ctx context.Context) error { defer cancel(); return earlier(ctx) }
				}
				var e ear
				err := seq.take(ctx, e.reporter())
				require.ErrorIs(t, err, context.Canceled)
				require.Len(t, e.notes, 1)
				s.requireTrue(t, r, before, e.notes[0])
			})
		})
	}
}

// requireTrue holds a report to the repository.
func (s scene) requireTrue(t *testing.T, r *gittest.Repo, before map[string]string, note string) {
	t.Helper()
	tag, rewritten := r.Git("tag", "-l", "v1.4.0") != "", strings.Contains(r.Read("CHANGELOG.md"), "## [1.4.0]")
	switch {
	case strings.HasPrefix(note, "the cancel came too late: "):
		require.Equal(t, !s.undo, tag)
		require.Equal(t, !s.undo, rewritten)
		require.Equal(t, !s.undo && s.commit, r.Git("log", "-1", "--format=%s") == "Release 1.4.0")
		if s.undo {
			require.NotContains(t, note, "tag created")
		}
	case note == "tag created; changelog rewrite cancelled before it ran":
		require.True(t, tag)
		require.False(t, s.commit)
		delete(before, "CHANGELOG.md")
		require.Contains(t, r.Read("CHANGELOG.md"), "## [Unreleased]\n\n### Added\n")
		require.False(t, rewritten)
	default:
		require.Regexp(t, "cancelled before anything was written$|nothing of it stands$|the release stands as before$", note)
		require.Equal(t, before, r.Snapshot())
	}
}
