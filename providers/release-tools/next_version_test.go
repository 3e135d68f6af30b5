package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// released is a repository with nothing unreleased after a version.
func released(t *testing.T, version string) *gittest.Repo {
	r := gittest.Init(t)
	r.Write("CHANGELOG.md", "## [Unreleased]\n\n## ["+version+"] - 2026-01-02\n\n- Older\n")
	r.Commit("first")
	r.Git("tag", "-a", "-m", "x", "v"+version)
	return r
}

func commit(r *gittest.Repo, message string) string {
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return r.Git("rev-parse", "HEAD")
}

// R32
func TestNextVersionOfOneCommit(t *testing.T) {
	tests := []struct {
		name, message string
		want, initial string // after 1.4.0 and after 0.4.0
	}{
		{"mark", "feat!: x", "2.0.0", "0.5.0"},
		{"footer", "feat: x\n\nBREAKING CHANGE: y", "2.0.0", "0.5.0"},
		{"footer with a hyphen", "feat: x\n\nBREAKING-CHANGE: y", "2.0.0", "0.5.0"},
		{"prose", "fix: x\n\nthis has no breaking changes: honest", "1.4.1", "0.4.1"},
		{"scope and mark", "fix(api)!: x", "2.0.0", "0.5.0"},
		{"any type and mark", "chore!: x", "2.0.0", "0.5.0"},
		{"feature", "feat: x", "1.5.0", "0.5.0"},
		{"repair", "fix: x", "1.4.1", "0.4.1"},
		{"squash (R35)", "Harden loader (#106)\n\n* feat: a\n* fix: b", "1.5.0", "0.5.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for base, want := range map[string]string{"1.4.0": tt.want, "0.4.0": tt.initial} {
				r := released(t, base)
				hash := commit(r, tt.message)
				out := run(t, start(t, r, nil), "next-version", nil).Result
				require.Equal(t, want, out["version"])
				require.Equal(t, "v"+want, out["tag"])
				require.Equal(t, base, out["previous"])
				require.Equal(t, hash, out["reasons"].([]any)[0].(map[string]any)["commit"])
				breaks := strings.HasPrefix(tt.want, "2")
				require.Equal(t, breaks && base == "0.4.0", strings.Contains(warnings(out), "below 1.0.0"), "the rule is said where it holds")
			}
		})
	}
}

func warnings(out map[string]any) string {
	var all []string
	list, _ := out["warnings"].([]any)
	for _, w := range list {
		all = append(all, w.(string))
	}
	return strings.Join(all, "\n")
}

// R35: a commit and its revert contribute nothing, and are listed on demand.
func TestNextVersionOfReverts(t *testing.T) {
	r := released(t, "1.4.0")
	commit(r, "Harden loader (#106)\n\n* feat: a\n* fix: b")
	gone := commit(r, "feat!: c")
	commit(r, "Revert \"feat!: c\"\n\nThis reverts commit "+gone+".")
	commit(r, "docs: d")
	h := start(t, r, nil)
	out := run(t, h, "next-version", nil).Result
	require.Equal(t, "1.5.0", out["version"])
	require.Equal(t, "minor", out["level"])
	require.Len(t, out["reasons"], 2)
	require.Nil(t, out["skipped"])
	out = run(t, h, "next-version", map[string]any{"verbose": true}).Result
	require.Len(t, out["skipped"], 3)
	tree, err := h.Render(t.Context(), out)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "1.5.0, after 1.4.0")
	require.Contains(t, tree.String(), "3 commits left out")
}

func TestNextVersionOfEntries(t *testing.T) {
	tests := []struct{ name, notes, want string }{
		{"added", "### Added\n\n- x\n", "1.5.0"},
		{"fixed", "### Fixed\n\n- x\n\n### Security\n\n- y\n", "1.4.1"},
		{"removed", "### Fixed\n\n- x\n\n### Removed\n\n- y\n", "2.0.0"},
		{"marked", "### Fixed\n\n- **Breaking:** x\n", "2.0.0"},
		{"a category for it", "### Breaking changes\n\n- x\n", "2.0.0"},
		{"only the word", "### Fixed\n\n- Breaking news are shown again\n", "1.4.1"},
		{"no category", "- x\n", "1.4.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := released(t, "1.4.0")
			r.Write("CHANGELOG.md", "## [Unreleased]\n\n"+tt.notes+"\n## [1.4.0] - 2026-01-02\n\n- Older\n")
			require.Equal(t, tt.want, run(t, start(t, r, nil), "next-version", nil).Result["version"])
		})
	}
}

func TestNextVersionOfPreReleases(t *testing.T) {
	r := released(t, "1.4.0")
	commit(r, "fix: x")
	h := start(t, r, nil)
	next := func(pre string) any { return run(t, h, "next-version", map[string]any{"pre": pre}).Result["version"] }
	require.Equal(t, "1.4.1-rc.1", next("rc"))
	r.Git("tag", "v1.4.1-rc.9")
	r.Git("tag", "v1.4.1-rc.10")
	require.Equal(t, "1.4.1-rc.11", next("rc"))
	require.Equal(t, "1.4.1", run(t, h, "next-version", nil).Result["version"])
	r.Git("tag", "v2.0.0-beta.1")
	out := run(t, h, "next-version", nil).Result
	require.Equal(t, "2.0.0", out["version"], "what is out as a pre-release is not gone below")
	require.Equal(t, "2.0.0-beta.2", next("beta"))
	require.Equal(t, "not-newer", kind(t, h, "next-version", map[string]any{"pre": "alpha"}))
	require.Equal(t, "invalid-label", kind(t, h, "next-version", map[string]any{"pre": "r c"}))
	// R30: a final release and its candidate on one commit
	r.Git("tag", "-a", "-m", "x", "v2.0.0")
	require.Equal(t, "nothing-to-release", kind(t, h, "next-version", nil))
	commit(r, "feat: y")
	require.Equal(t, "2.1.0", run(t, h, "next-version", nil).Result["version"])
}

func TestNextVersionOfTheFirstRelease(t *testing.T) {
	r := gittest.Init(t)
	r.Write("a", "b")
	r.Commit("feat!: everything")
	r.Git("tag", "nightly")
	out := run(t, start(t, r, nil), "next-version", nil).Result // without a changelog, too
	require.Equal(t, "0.1.0", out["version"])
	require.Nil(t, out["previous"])
}

// A project without tags has all of its history for a reason; the answer fits a message all the same.
func TestNextVersionOfALongHistory(t *testing.T) {
	r := gittest.Init(t)
	var in strings.Builder
	subject := "feat: " + strings.Repeat("x", 5000)
	for i := range 1000 {
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n", i+1, i, len(subject), subject)
	}
	cmd := exec.Command("git", "-C", r.Dir, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	require.NoError(t, cmd.Run())
	h := start(t, r, nil)
	out := run(t, h, "next-version", nil).Result
	require.Len(t, out["reasons"], 500)
	require.EqualValues(t, 501, out["omitted"])
	tree, err := h.Render(t.Context(), out)
	require.NoError(t, err)
	require.Contains(t, tree.String(), "981 reasons more")
}

// R25: a clone that does not reach the last tag is no project without one.
func TestNextVersionOfShallowClones(t *testing.T) {
	r := released(t, "1.4.0")
	for range 50 {
		commit(r, "fix: x")
	}
	clone := r.At(filepath.Join(t.TempDir(), "clone"))
	r.Git("clone", "-q", "--depth", "20", "file://"+r.Dir, clone.Dir)
	h := start(t, clone, nil)
	require.Equal(t, "shallow-repository", kind(t, h, "next-version", nil))
	require.Equal(t, "shallow-repository", kind(t, h, "changelog-draft", nil))
	clone.Git("fetch", "-q", "--depth", "1", "origin", "tag", "v1.4.0") // the tag is there, the way to it is not
	require.Equal(t, "shallow-repository", kind(t, h, "next-version", nil))
	require.Equal(t, "", run(t, h, "changelog", nil).Result["unreleased"])
	clone.Git("fetch", "-q", "--depth", "60", "origin", "main", "tag", "v1.4.0")
	require.Equal(t, "1.4.1", run(t, h, "next-version", nil).Result["version"])
}

// R29: a module has its own tags, and of the commits those in its folder.
func TestNextVersionOfAModule(t *testing.T) {
	r := gittest.Init(t)
	r.Write("sdk/CHANGELOG.md", "## [Unreleased]\n")
	r.Commit("first")
	for _, tag := range []string{"v2.5.0", "sdk/v1.2.2", "sdk/v1.2.3", "providers/aws/v0.4.0"} {
		r.Git("tag", tag)
	}
	r.Write("sdk/a", "1")
	r.Commit("fix: in the module")
	r.Write("b", "1")
	r.Commit("feat!: elsewhere")
	r.Git("config", "log.follow", "true")
	module := map[string]any{"tag_prefix": "sdk/v", "changelog_path": "sdk/CHANGELOG.md"}
	out := run(t, start(t, r, module), "next-version", nil).Result
	require.Equal(t, "sdk/v1.2.4", out["tag"])
	require.Equal(t, "3.0.0", run(t, start(t, r, nil), "next-version", nil).Result["version"])
}

// A branch that the last tag is not on is told so; a release that has no tag is, too.
func TestNextVersionWarns(t *testing.T) {
	r := released(t, "1.4.0")
	r.Git("checkout", "-q", "-b", "side")
	commit(r, "feat: there")
	r.Git("tag", "v1.5.0")
	r.Git("checkout", "-q", "main")
	commit(r, "fix: here")
	out := run(t, start(t, r, nil), "next-version", nil).Result
	require.Equal(t, "1.5.1", out["version"])
	require.Contains(t, warnings(out), "v1.5.0 is not in the history of HEAD")
	r.Git("tag", "-d", "v1.5.0", "v1.4.0")
	r.Write("CHANGELOG.md", "## [Unreleased]\n\n### Added\n\n- x\n\n## [1.4.0] - 2026-01-02\n\n- Older\n")
	out = run(t, start(t, r, nil), "next-version", nil).Result
	require.Equal(t, "1.5.0", out["version"])
	require.Contains(t, warnings(out), "has no tag v1.4.0")
}

// Without its changelog a project has no entries; with one that is only not checked out it may.
func TestNextVersionWithoutItsChangelog(t *testing.T) {
	r := released(t, "1.4.0")
	commit(r, "fix: y")
	r.Git("sparse-checkout", "set", "--no-cone", "/nothing")
	h := start(t, r, nil)
	require.Equal(t, "changelog-not-checked-out", kind(t, h, "next-version", nil))
	r.Git("sparse-checkout", "disable")
	r.Git("rm", "-q", "CHANGELOG.md")
	require.Equal(t, "1.4.1", run(t, h, "next-version", nil).Result["version"])
}

// A tag of a version need not lead to a commit, which then is not where commits are counted from.
func TestNextVersionAfterATagWithoutACommit(t *testing.T) {
	for name, target := range map[string]string{"tree": "HEAD^{tree}", "blob": "HEAD:CHANGELOG.md"} {
		for _, options := range [][]string{nil, {"-a", "-m", "x"}} {
			t.Run(name, func(t *testing.T) {
				r := gittest.New(t)
				commit(r, "feat!: not looked at")
				r.Git(append(append([]string{"tag"}, options...), "v1.3.5", target)...)
				h := start(t, r, nil)
				out := run(t, h, "next-version", nil).Result
				require.Equal(t, "1.4.0", out["version"], "by the entries alone")
				require.Contains(t, warnings(out), "tag v1.3.5 leads to no commit")
				require.Contains(t, warnings(run(t, h, "changelog-draft", nil).Result), "v1.3.5")
				run(t, h, "release", map[string]any{"version": "auto"})
				requireGitAgrees(t, r, "v1.4.0")
			})
		}
	}
}

// The commits are those of git, whatever its settings would add to them.
func TestNextVersionReadsCommitsAsGitDoes(t *testing.T) {
	r := released(t, "1.4.0")
	r.Git("config", "log.showSignature", "true")
	r.Git("config", "log.decorate", "full")
	r.Git("config", "color.ui", "always")
	r.Git("config", "format.pretty", "oneline")
	r.Git("checkout", "-q", "-b", "side")
	commit(r, "feat: naïve — «ok»")
	r.Git("checkout", "-q", "main")
	commit(r, "fix: y")
	r.Git("merge", "-q", "--no-ff", "-m", "Merge side\n\nfeat!: listed twice", "side")
	r.Git("commit-graph", "write", "--reachable")
	r.Git("pack-refs", "--all")
	out := run(t, start(t, r, nil), "next-version", map[string]any{"verbose": true}).Result
	require.Equal(t, "1.5.0", out["version"])
	var said []string
	for _, x := range out["reasons"].([]any) {
		said = append(said, x.(map[string]any)["text"].(string))
	}
	require.Equal(t, []string{"feat: naïve — «ok»", "fix: y"}, said)
	require.Len(t, out["skipped"], 1)
}

func TestReleaseAuto(t *testing.T) {
	r := gittest.New(t)
	commit(r, "feat: y")
	h := start(t, r, nil)
	tree, err := h.Preview(t.Context(), "release", map[string]any{"version": "auto"})
	require.NoError(t, err)
	require.Contains(t, tree.String(), "tag v1.4.0 at ")
	require.Contains(t, tree.String(), "1.4.0 because of ")
	require.Equal(t, "1.4.0", run(t, h, "release", map[string]any{"version": "auto"}).Result["version"])
	require.Equal(t, "nothing-to-release", kind(t, h, "release", map[string]any{"version": "auto"}))
}
