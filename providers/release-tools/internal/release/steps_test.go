package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
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

// A process that is killed at any step leaves a repository that git can work with. The next release says what it found,
// and an undo brings back what was there; then the release goes through.
func TestKillAtEveryStep(t *testing.T) {
	if dir := os.Getenv("RELEASE_TOOLS_KILLED_IN"); dir != "" {
		dieAtAStep(t, dir)
	}
	for _, when := range []string{"before", "after", "unremembered"} {
		t.Run(when, func(t *testing.T) {
			eachStep(t, func(t *testing.T, s scene, i int) {
				r := s.lay(t)
				start := scene{s.name, s.commit, false}.lay(t) // what there was before any release
				cmd := exec.Command(os.Args[0], "-test.run", "^TestKillAtEveryStep$")
				cmd.Env = append(os.Environ(), "RELEASE_TOOLS_KILLED_IN="+r.Dir, fmt.Sprintf("RELEASE_TOOLS_KILLED_AT=%s %d %t %t", when, i, s.commit, s.undo))
				out, err := cmd.CombinedOutput()
				exit, ok := errors.AsType[*exec.ExitError](err)
				require.True(t, ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL, "%v: %s", err, out)
				require.NotContains(t, r.Git("fsck", "--strict", "--no-dangling"), "error")

				s.requireNextReleaseKnows(t, r)
				u, err := PrepareUndo(t.Context(), s.settings(), r.Dir, "1.4.0", time.Now())
				if err == nil {
					_, err = u.Run(t.Context(), new(ear).reporter())
				}
				if refused, ok := errors.AsType[*refusal.Error](err); ok { // killed before the first step, or after the last
					require.Contains(t, []string{"unknown-release", "nothing-to-undo"}, refused.Kind)
				} else {
					require.NoError(t, err)
				}
				for _, same := range [][]string{{"status", "--porcelain"}, {"ls-files", "--stage"}, {"for-each-ref", "--format=%(refname)"}, {"log", "--format=%s"}} {
					require.Equal(t, start.Git(same...), r.Git(same...), same)
				}
				require.Equal(t, start.Read("CHANGELOG.md"), r.Read("CHANGELOG.md"))
				_, err = s.plan(t, r.Dir).Run(t.Context(), new(ear).reporter())
				require.NoError(t, err)
			})
		})
	}
}

// requireNextReleaseKnows tries another release: it says what half there is, or goes ahead because there is none.
func (s scene) requireNextReleaseKnows(t *testing.T, r *gittest.Repo) {
	t.Helper()
	tag := r.Git("tag", "-l", "v1.4.0") != ""
	rewritten := strings.Contains(r.Read("CHANGELOG.md"), "## [1.4.0]")
	committed := r.Git("log", "-1", "--format=%s") == "Release 1.4.0"
	before := r.Snapshot()
	_, err := Prepare(t.Context(), s.settings(), Request{Dir: r.Dir, Version: "1.4.0", Now: time.Now()})
	require.Equal(t, before, r.Snapshot())
	if !tag && !rewritten && !committed {
		require.NoError(t, err)
		return
	}
	var refused *refusal.Error
	require.ErrorAs(t, err, &refused)
	if tag && rewritten && committed == s.commit {
		require.Equal(t, "tag-exists", refused.Kind)
		return
	}
	require.Equal(t, "interrupted-release", refused.Kind)
	there, missing, _ := strings.Cut(refused.Message, ", but not ")
	require.Contains(t, refused.Message, "release-undo 1.4.0")
	for part, is := range map[string]bool{"tag v1.4.0": tag, "the rewritten CHANGELOG.md": rewritten} {
		require.Equal(t, is, strings.Contains(there, part), refused.Message)
		require.Equal(t, !is, strings.Contains(missing, part), refused.Message)
	}
	require.Equal(t, committed, strings.Contains(there, "its commit"), refused.Message)
}

// dieAtAStep is the process that is killed.
func dieAtAStep(t *testing.T, dir string) {
	var when string
	var i int
	var s scene
	_, err := fmt.Sscan(os.Getenv("RELEASE_TOOLS_KILLED_AT"), &when, &i, &s.commit, &s.undo)
	require.NoError(t, err)
	seq := s.sequence(t, dir)
	run := seq.steps[i].run
	seq.steps[i].run = func(ctx context.Context) error {
		if when != "before" {
			require.NoError(t, run(ctx))
		}
		if when == "unremembered" { // killed between the change and the note of its object
			r, err := repo.Open(ctx, dir, time.Now())
			require.NoError(t, err)
			if rec, err := readRecord(r, "v1.4.0"); err == nil && rec != nil {
				rec.MadeTag, rec.MadeCommit = "", ""
				require.NoError(t, rec.write(r))
			}
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	_ = seq.take(t.Context(), new(ear).reporter())
	time.Sleep(time.Minute) // a signal to oneself may take a moment
}
