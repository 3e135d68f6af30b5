package main

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// What a hook writes to the changelog and commits is the release's own: index, file and commit agree, and undo takes it back.
func TestReleaseWithAHookThatRewritesTheChangelog(t *testing.T) {
	r := gittest.New(t)
	r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "category\n", "category\n- Late entry\n", 1))
	r.Hook("pre-commit", "echo by the hook >>CHANGELOG.md; git add CHANGELOG.md")
	h := start(t, r, committing)
	head, notes := r.Git("rev-parse", "HEAD"), r.Read("CHANGELOG.md")
	res := run(t, h, "release", version140)
	require.True(t, strings.HasSuffix(r.Read("CHANGELOG.md"), "by the hook\n"))
	require.Contains(t, res.Result["diff"], "+by the hook")
	require.Equal(t, []any{"a hook of git commit rewrote CHANGELOG.md: the release holds what it made of it"}, res.Result["warnings"])
	require.Empty(t, r.Git("status", "--porcelain"))
	requireGitAgrees(t, r, "v1.4.0")

	run(t, h, "release-undo", undo140)
	require.Equal(t, head, r.Git("rev-parse", "HEAD"))
	require.Equal(t, notes, r.Read("CHANGELOG.md"))
	require.Equal(t, " M CHANGELOG.md", r.Git("status", "--porcelain"))
}

// What a hook writes to the changelog beside the commit, or before it fails the commit, ends the release. The entries that
// were not committed yet are there again, and what the hook wrote is kept.
func TestReleaseWithAHookThatLeavesTheChangelogElse(t *testing.T) {
	tests := []struct{ name, hook, script, says string }{
		{"fixes and fails", "pre-commit", "echo by the hook >>CHANGELOG.md; echo fixed >&2; exit 1", "git commit: fixed; what a hook"},
		{"fixes, stages and fails", "pre-commit", "echo by the hook >>CHANGELOG.md; git add CHANGELOG.md; exit 1", "what a hook"},
		{"does not stage", "pre-commit", "echo by the hook >>CHANGELOG.md", "let the hook git add what it writes"},
		{"takes the release out", "pre-commit", "echo '# by the hook' >CHANGELOG.md; git add CHANGELOG.md", "no entries for 1.4.0"},
		{"comes too late", "post-commit", "echo by the hook >>CHANGELOG.md", "let the hook git add what it writes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "category\n", "category\n- Late entry\n", 1))
			r.Hook(tt.hook, tt.script)
			said := refuse(t, r, committing, version140, "release-failed")
			require.Contains(t, said, "nothing of it stands")
			require.Contains(t, said, tt.says)
			_, blob, _ := strings.Cut(said, "git cat-file -p ")
			require.Contains(t, r.Git("cat-file", "-p", blob), "by the hook")
		})
	}
}

// A hook may end without a word, or with more of them than anybody reads.
func TestReleaseWithAHookThatSaysTooLittleOrTooMuch(t *testing.T) {
	r := gittest.New(t)
	r.Hook("pre-commit", "exit 3")
	require.Contains(t, refuse(t, r, committing, version140, "release-failed"), "git commit: exit status 1, without a word (a hook")
	r.Hook("pre-commit", "i=0; while [ $i -lt 20000 ]; do echo 'much is said here' >&2; i=$((i+1)); done; echo the reason >&2; exit 3")
	said := refuse(t, r, committing, version140, "release-failed")
	require.Contains(t, said, "much is said here\nthe reason")
	require.Less(t, len(said), 3000)
}

// The index says something else than the file: the commit would too.
func TestReleaseWithAHookThatStagesSomethingElse(t *testing.T) {
	r := gittest.New(t)
	r.Hook("pre-commit", `git update-index --cacheinfo 100644,$(echo other | git hash-object -w --stdin),CHANGELOG.md`)
	require.Contains(t, refuse(t, r, committing, version140, "release-failed"), "the commit does not hold what the file does")
}

// A changelog that a hook removed cannot be put back by itself: what stands is said, and the record of it stays.
func TestReleaseWithAHookThatRemovesTheChangelog(t *testing.T) {
	r := gittest.New(t)
	r.Hook("pre-commit", "rm CHANGELOG.md; exit 1")
	h := start(t, r, committing)
	res := h.Call(t.Context(), "release", version140)
	require.NotNil(t, res.Err)
	require.Contains(t, res.Err.GetMessage(), "changelog rewritten and still so")
	require.Equal(t, "changelog-changed", kind(t, h, "release-undo", undo140))
	r.Git("checkout", "-q", "--", "CHANGELOG.md")
	require.Equal(t, "nothing-to-undo", kind(t, h, "release-undo", undo140))
	r.Hook("pre-commit", "exit 0")
	run(t, h, "release", version140)
}
