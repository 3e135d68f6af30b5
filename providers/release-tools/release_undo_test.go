package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

var undo140 = map[string]any{"version": "1.4.0"}

func TestReleaseUndo(t *testing.T) {
	for _, commits := range []bool{false, true} {
		r := gittest.New(t)
		r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "category\n", "category\n- Late entry\n", 1))
		h := start(t, r, map[string]any{"commit": commits})
		head, status, notes := r.Git("rev-parse", "HEAD"), r.Git("status", "--porcelain"), r.Read("CHANGELOG.md")
		made := run(t, h, "release", version140)
		r.Git("status") // which writes the index anew
		before := r.Snapshot()
		tree, err := h.Preview(t.Context(), "release-undo", undo140)
		require.NoError(t, err)
		require.Contains(t, tree.String(), "take back the rewritten CHANGELOG.md")
		require.Equal(t, before, r.Snapshot())

		res := run(t, h, "release-undo", undo140)
		require.Equal(t, "v1.4.0", res.Result["tag"])
		require.Equal(t, head, res.Result["head"])
		if commits {
			require.Equal(t, made.Result["commit"], res.Result["undone"])
			require.Equal(t, "Removed tag v1.4.0\nTook back the commit of CHANGELOG.md\n", res.Stdout)
		}
		require.Equal(t, head, r.Git("rev-parse", "HEAD"))
		require.Equal(t, status, r.Git("status", "--porcelain"))
		require.Equal(t, notes, r.Read("CHANGELOG.md"))
		require.Equal(t, "v1.3.0", r.Git("tag"))
		require.NoDirExists(t, filepath.Join(r.Dir, ".git", "release-tools"))
		tree, err = h.Render(t.Context(), res.Result)
		require.NoError(t, err)
		require.Contains(t, tree.String(), "Took back release 1.4.0")

		require.Equal(t, "unknown-release", kind(t, h, "release-undo", undo140))
		run(t, h, "release", version140)
	}
}

// A branch that is another name of one stays so, and both go back.
func TestReleaseUndoOnABranchOfTwoNames(t *testing.T) {
	r := gittest.New(t)
	r.Git("branch", "-m", "trunk")
	r.Git("symbolic-ref", "refs/heads/main", "refs/heads/trunk")
	r.Git("symbolic-ref", "HEAD", "refs/heads/main")
	head := r.Git("rev-parse", "HEAD")
	h := start(t, r, map[string]any{"commit": true, "branches": []any{"main"}})
	run(t, h, "release", version140)
	run(t, h, "release-undo", undo140)
	require.Equal(t, head, r.Git("rev-parse", "trunk"))
	require.Equal(t, "refs/heads/trunk", r.Git("symbolic-ref", "refs/heads/main"))
	require.Empty(t, r.Git("status", "--porcelain"))
}

// Whatever is not exactly what release made, or could be elsewhere, stays as it is.
func TestReleaseUndoRefuses(t *testing.T) {
	origin := func(t *testing.T, r *gittest.Repo) *gittest.Repo {
		o := r.At(t.TempDir())
		o.Git("init", "-q", "--bare")
		r.Git("remote", "add", "origin", o.Dir)
		return o
	}
	tests := []struct {
		name string
		lay  func(t *testing.T, r *gittest.Repo)
		kind string
		says string
	}{
		{"a tag made by hand", func(_ *testing.T, r *gittest.Repo) { r.Git("tag", "-f", "v1.4.0", "HEAD~1") }, "tag-changed", "git show v1.4.0"},
		{"a tag made again", func(_ *testing.T, r *gittest.Repo) {
			r.Git("tag", "-f", "-a", "-m", "Release 1.4.0, again", "v1.4.0", "HEAD")
		}, "tag-changed", "no longer"},
		{"a commit on top", func(_ *testing.T, r *gittest.Repo) { commit(r, "more") }, "moved-on", "HEAD is at"},
		{"an amended commit", func(_ *testing.T, r *gittest.Repo) { r.Git("commit", "-q", "--amend", "-m", "other") }, "moved-on", "HEAD is at"},
		{"another branch", func(_ *testing.T, r *gittest.Repo) { r.Git("checkout", "-q", "-b", "side") }, "moved-on", "HEAD is on side and the release was made on main"},
		{"an edited changelog", func(_ *testing.T, r *gittest.Repo) { r.Write("CHANGELOG.md", "mine") }, "changelog-changed", "CHANGELOG.md was changed"},
		{"a staged edit", func(_ *testing.T, r *gittest.Repo) {
			notes := r.Read("CHANGELOG.md")
			r.Write("CHANGELOG.md", "mine")
			r.Git("add", "CHANGELOG.md")
			r.Write("CHANGELOG.md", notes)
		}, "changelog-changed", "CHANGELOG.md was changed"},
		{"a missing changelog", func(_ *testing.T, r *gittest.Repo) { r.Git("rm", "-q", "-f", "--cached", "CHANGELOG.md") }, "changelog-changed", "CHANGELOG.md was changed"},
		{"a merge under way", func(_ *testing.T, r *gittest.Repo) { r.Write(".git/MERGE_HEAD", r.Git("rev-parse", "HEAD")+"\n") }, "operation-in-progress", "merge"},
		{"a pushed commit", func(t *testing.T, r *gittest.Repo) { origin(t, r); r.Git("push", "-q", "origin", "main") }, "pushed", "is on origin/main already"},
		{"a pushed commit that was forgotten", func(t *testing.T, r *gittest.Repo) {
			r.Git("push", "-q", origin(t, r).Dir, "main")
		}, "pushed", "is on origin already"},
		{"a pushed tag", func(t *testing.T, r *gittest.Repo) { origin(t, r); r.Git("push", "-q", "origin", "v1.4.0") }, "pushed", "tag v1.4.0 is on origin already"},
		{"a tag pushed to another place than origin is read from", func(t *testing.T, r *gittest.Repo) {
			origin(t, r)
			fork := r.At(t.TempDir())
			fork.Git("init", "-q", "--bare")
			r.Git("config", "remote.origin.pushurl", fork.Dir)
			r.Git("push", "-q", "origin", "v1.4.0")
		}, "pushed", "tag v1.4.0 is on origin already"},
		{"a remote that is gone", func(t *testing.T, r *gittest.Repo) { r.Git("remote", "add", "origin", t.TempDir()) }, "remote-silent", "does not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			h := start(t, r, committing)
			run(t, h, "release", version140)
			tt.lay(t, r)
			before := r.Snapshot()
			res := h.Call(t.Context(), "release-undo", undo140)
			require.NotNil(t, res.Err, "undone: %v", res.Result)
			require.Equal(t, tt.kind, res.Err.GetDetails().AsMap()["kind"], res.Err.GetMessage())
			require.Contains(t, res.Err.GetMessage(), tt.says)
			require.Empty(t, res.Stdout)
			require.Equal(t, before, r.Snapshot())
		})
	}
}

func TestReleaseUndoOfOtherReleases(t *testing.T) {
	r := gittest.New(t)
	h := start(t, r, nil)
	require.Equal(t, "not-made-here", kind(t, h, "release-undo", map[string]any{"version": "1.3.0"}))
	require.Equal(t, "unknown-release", kind(t, h, "release-undo", map[string]any{"version": "1.2.0"}))
	require.Equal(t, "invalid-version", kind(t, h, "release-undo", map[string]any{"version": "auto"}))
}

// What was pushed before the release does not matter, and a remote that has none of it is no obstacle.
func TestReleaseUndoBesideARemote(t *testing.T) {
	r := gittest.New(t)
	o := r.At(t.TempDir())
	o.Git("init", "-q", "--bare")
	r.Git("remote", "add", "origin", o.Dir)
	r.Git("push", "-q", "origin", "main", "v1.3.0")
	h := start(t, r, committing)
	run(t, h, "release", version140)
	run(t, h, "release-undo", undo140)
	require.Empty(t, r.Git("status", "--porcelain"))
}

// The release of a linked worktree is undone there, and nowhere else.
func TestReleaseUndoInALinkedWorktree(t *testing.T) {
	r := gittest.New(t)
	wt := r.At(filepath.Join(t.TempDir(), "wt"))
	r.Git("worktree", "add", "-q", wt.Dir, "-b", "feat")
	h := start(t, wt, committing)
	run(t, h, "release", version140)
	require.Equal(t, "not-made-here", kind(t, start(t, r, committing), "release-undo", undo140))
	run(t, h, "release-undo", undo140)
	require.Equal(t, r.Git("rev-parse", "main"), r.Git("rev-parse", "feat"))
	require.Empty(t, wt.Git("status", "--porcelain"))
}

// A fault that only shows at a step puts back what went before it.
func TestReleaseUndoFailsAtAStep(t *testing.T) {
	for _, lock := range []string{"refs/tags/v1.4.0.lock", "refs/heads/main.lock", "index.lock"} {
		t.Run(lock, func(t *testing.T) {
			r := gittest.New(t)
			h := start(t, r, committing)
			run(t, h, "release", version140)
			r.Write(".git/"+lock, "")
			before := r.Snapshot()
			res := h.Call(t.Context(), "release-undo", undo140)
			require.NotNil(t, res.Err)
			require.Equal(t, "undo-failed", res.Err.GetDetails().AsMap()["kind"])
			require.Contains(t, res.Err.GetMessage(), "the release stands as before")
			require.Contains(t, res.Err.GetMessage(), filepath.Base(lock))
			require.Regexp(t, `^$|back\n$`, res.Stdout, "the last word sounds like success")
			require.Equal(t, before, r.Snapshot())
			requireGitAgrees(t, r, "v1.4.0")
		})
	}
}
