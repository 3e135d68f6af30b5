package main

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

func TestChangelogAdd(t *testing.T) {
	r := gittest.New(t)
	h := start(t, r, nil)
	args := map[string]any{"section": "added", "entry": "Another one"}
	before := r.Snapshot()
	tree, err := h.Preview(t.Context(), "changelog-add", args)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "Another one")
	require.Equal(t, before, r.Snapshot())

	res := run(t, h, "changelog-add", args)
	require.Equal(t, strings.Replace(gittest.Changelog, "category\n", "category\n- Another one\n", 1), r.Read("CHANGELOG.md"))
	require.Contains(t, res.Result["diff"], "\n+- Another one\n")
	require.Equal(t, " M CHANGELOG.md", r.Git("status", "--porcelain"))
	tree, err = h.Render(t.Context(), res.Result)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "Added to CHANGELOG.md, Added")

	before = r.Snapshot()
	require.Equal(t, "unknown-section", kind(t, h, "changelog-add", map[string]any{"section": "Adder", "entry": "x"}))
	require.Equal(t, "invalid-entry", kind(t, h, "changelog-add", map[string]any{"section": "Added", "entry": " "}))
	require.Equal(t, before, r.Snapshot())
}

func TestChangelogDraft(t *testing.T) {
	r := gittest.New(t)
	commit(r, "feat: add slashcommand.v1 category")
	fix := commit(r, "fix(loader): load twice (#7)")
	commit(r, "feat!: drop it\n\nBREAKING CHANGE: use the other one")
	gone := commit(r, "perf: faster")
	commit(r, "Revert \"perf: faster\"\n\nThis reverts commit "+gone+".")
	commit(r, "typo")
	r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "### Added\n", "By hand.\n\n### Added\n", 1))
	h := start(t, r, nil)
	before := r.Snapshot()
	res := run(t, h, "changelog-draft", nil)
	require.Equal(t, before, r.Snapshot())
	require.Equal(t, "By hand.\n\n### Added\n\n- Add slashcommand.v1 category\n\n### Changed\n\n- **Breaking:** Drop it. use the other one\n\n### Fixed\n\n- loader: load twice (#7)\n", res.Result["draft"])
	require.Equal(t, []any{
		map[string]any{"section": "Fixed", "entry": "loader: load twice (#7)", "commit": fix},
		map[string]any{"section": "Changed", "entry": "**Breaking:** Drop it. use the other one", "commit": r.Git("rev-parse", "HEAD~3")},
	}, res.Result["proposed"])
	require.Len(t, res.Result["skipped"], 3)
	tree, err := h.Render(t.Context(), res.Result)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "2 entries proposed")
	tree, err = h.Preview(t.Context(), "changelog-draft", nil)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "write nothing")

	r.Git("tag", "v1.4.0-rc.1", "HEAD~3")
	require.Empty(t, run(t, h, "changelog-draft", map[string]any{"since": "v1.4.0-rc.1"}).Result["proposed"])
	require.Len(t, run(t, h, "changelog-draft", map[string]any{"since": "1.3.0"}).Result["proposed"], 2)
	require.Equal(t, "unknown-version", kind(t, h, "changelog-draft", map[string]any{"since": "9.9.9"}))
}

func TestTags(t *testing.T) {
	r := gittest.New(t)
	h := start(t, r, nil)
	for _, tag := range []string{"v1.10.0", "v1.4.0", "v1.10.0-rc.1", "nightly", "sdk/v9.0.0"} {
		r.Git("tag", tag)
	}
	r.Git("tag", "-a", "-m", "of a tag", "v1.11.0", "v1.3.0")
	r.Git("tag", "v1.12.0", "HEAD^{tree}")
	res := run(t, h, "tags", map[string]any{"limit": 3})
	require.EqualValues(t, 5, res.Result["total"])
	var names []string
	for _, x := range res.Result["tags"].([]any) {
		names = append(names, x.(map[string]any)["tag"].(string))
		require.Equal(t, r.Git("rev-parse", names[len(names)-1]+"^{commit}"), x.(map[string]any)["commit"])
	}
	require.Equal(t, []string{"v1.11.0", "v1.10.0", "v1.10.0-rc.1"}, names)
	tree, err := h.Render(t.Context(), res.Result)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "2 tags more")
}

// Subjects that say nothing as an entry are left out, and stop no draft.
func TestChangelogDraftOfOddSubjects(t *testing.T) {
	r := gittest.New(t)
	for _, subject := range []string{"fix: ---", "fix: ```", "feat: [Unreleased]: https://elsewhere.example", "feat: <!-- open", "feat: # heading"} {
		commit(r, subject)
	}
	res := run(t, start(t, r, nil), "changelog-draft", nil).Result
	require.Len(t, res["skipped"], 3)
	require.Equal(t, "### Added\n\n- Add slashcommand.v1 category\n- <!-- open\n- # heading\n", res["draft"])
}
