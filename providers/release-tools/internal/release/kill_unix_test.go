//go:build unix

package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/stretchr/testify/require"
)

// A process that is killed before any step, or right after it, leaves a repository that git can work with. The next
// release says what it found, and an undo brings back what was there; then the release goes through.
func TestKillAtEveryStep(t *testing.T) {
	if dir := os.Getenv("RELEASE_TOOLS_KILLED_IN"); dir != "" {
		dieAtAStep(t, dir)
	}
	for _, when := range []string{"before", "unremembered"} {
		t.Run(when, func(t *testing.T) {
			eachStep(t, func(t *testing.T, s scene, i int) {
				r := s.lay(t)
				s.kill(t, r, when, i)
				s.requireRecovery(t, r)
			})
		})
	}
}

// git outlives the process that started it: a commit whose hook was still running is made, and is found. It is not made
// when the kill came before git was given its message, which is a matter of the clock.
func TestKillDuringACommit(t *testing.T) {
	s := scene{"release with commit", true, false}
	for tries := 1; !s.madeAfterAKill(t); tries++ {
		require.Less(t, tries, 20)
	}
}

// madeAfterAKill kills a release while a hook of its commit runs, and reports whether the commit was made all the same.
func (s scene) madeAfterAKill(t *testing.T) (made bool) {
	t.Helper()
	r := s.lay(t)
	r.Hook("pre-commit", "echo waiting >.git/waiting; while test ! -e .git/go; do sleep 0.02; done")
	s.kill(t, r, "during", 2)
	require.NotEqual(t, "Release 1.4.0", r.Git("log", "-1", "--format=%s"))
	r.Write(".git/go", "")
	// git holds its lock from before the hook until it has made the commit, or has given up.
	require.Eventually(t, func() bool { return !r.Exists(".git/index.lock") }, time.Minute, 20*time.Millisecond)
	made = r.Git("log", "-1", "--format=%s") == "Release 1.4.0"
	s.requireRecovery(t, r)
	return made
}

// kill runs the sequence in a process of its own, which dies at step i.
func (s scene) kill(t *testing.T, r *gittest.Repo, when string, i int) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKillAtEveryStep$")
	cmd.Env = append(os.Environ(), "RELEASE_TOOLS_KILLED_IN="+r.Dir, fmt.Sprintf("RELEASE_TOOLS_KILLED_AT=%s %d %t %t", when, i, s.commit, s.undo))
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL, "%v: %s", err, out)
	require.NotContains(t, r.Git("fsck", "--strict", "--no-dangling"), "error")
}

// requireRecovery holds the repository to what was promised of one that a kill left.
func (s scene) requireRecovery(t *testing.T, r *gittest.Repo) {
	start := scene{s.name, s.commit, false}.lay(t) // what there was before any release
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
		if when == "during" { // the hook says that it waits
			go func() {
				for {
					if _, err := os.Stat(filepath.Join(dir, ".git", "waiting")); err == nil {
						_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
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
