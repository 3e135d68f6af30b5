package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// Every refusal leaves the repository as it was, byte for byte.
func TestReleaseRefuses(t *testing.T) {
	with := func(version string) map[string]any { return map[string]any{"version": version} }
	rewrite := func(old, new string) func(*testing.T, *gittest.Repo) {
		return func(_ *testing.T, r *gittest.Repo) {
			r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, old, new, 1))
			r.Commit("notes")
		}
	}
	git := func(calls ...string) func(*testing.T, *gittest.Repo) {
		return func(_ *testing.T, r *gittest.Repo) {
			for _, c := range calls {
				r.Git(strings.Fields(c)...)
			}
		}
	}
	tests := []struct {
		name string
		lay  func(*testing.T, *gittest.Repo)
		cfg  map[string]any
		args map[string]any
		kind string
		says string
	}{
		// R16
		{"the version there is", git("tag -d v1.3.0"), nil, with("1.3.0"), "version-exists", "CHANGELOG.md:9"},
		{"an older version", nil, nil, with("1.2.9"), "not-newer", "not newer than 1.3.0 (tag v1.3.0)"},
		{"two numbers", nil, nil, with("1.3"), "invalid-version", "the patch number is missing"},
		{"leading zero", nil, nil, with("01.3.1"), "invalid-version", "leading zero"},
		{"empty pre-release", nil, nil, with("1.3.1-"), "invalid-version", "empty identifier"},
		{"zero in pre-release", nil, nil, with("1.3.1-01"), "invalid-version", "leading zero"},
		{"space in build", nil, nil, with("1.3.1+build 5"), "invalid-version", "build"},
		{"empty version", nil, nil, with(""), "invalid-version", "empty"},
		{"longer than a file name", nil, nil, with(strings.Repeat("9", 300) + ".0.0"), "invalid-version", "at most 128"},
		{"a word", nil, nil, with("soon"), "invalid-version", "as in 1.4.0, or auto"},
		// R31
		{"only other build metadata", nil, nil, with("1.3.0+b2"), "version-exists", "1.3.0"},
		{"undotted label", git("tag v1.4.0-rc9"), nil, with("1.4.0-rc10"), "not-newer", "a dot before the number"},
		// R11
		{"no day of the calendar", nil, nil, map[string]any{"version": "1.4.0", "date": "2024-02-30"}, "invalid-date", "2024-02-30"},
		{"another form of date", nil, nil, map[string]any{"version": "1.4.0", "date": "30.11.2026"}, "invalid-date", "YYYY-MM-DD"},
		// R05
		{"empty section", rewrite("### Added\n\n- Add slashcommand.v1 category\n\n", ""), nil, version140, "nothing-to-release", "line 3"},
		{"empty categories", rewrite("- Add slashcommand.v1 category\n", "### Changed\n\n### Fixed\n"), nil, version140, "nothing-to-release", "line 3"},
		{"only a comment", rewrite("- Add slashcommand.v1 category\n", "<!-- add here -->\n"), nil, version140, "nothing-to-release", "line 3"},
		// R13
		{"two sections", rewrite("## [1.3.0]", "## Unreleased\n\n- More\n\n## [1.3.0]"), nil, version140, "ambiguous-unreleased", "lines 3 and 9"},
		{"no section", rewrite("## [Unreleased]", "## Soon"), nil, version140, "no-unreleased-section", "1.3.0 on line 9"},
		{"no file", git("rm -q CHANGELOG.md", "commit -qm gone"), nil, version140, "no-changelog", "changelog_path"},
		{"a file that was removed", func(_ *testing.T, r *gittest.Repo) {
			require.NoError(t, os.Remove(filepath.Join(r.Dir, "CHANGELOG.md")))
		}, nil, version140, "changelog-not-checked-out", "git checkout -- CHANGELOG.md"},
		{"a sparse checkout", git("sparse-checkout set --no-cone /f.txt"), nil, version140, "changelog-not-checked-out", "git sparse-checkout add"},
		// R28: the tag is found whatever it is and wherever it lies
		{"tag is loose", git("tag -a -m x v1.4.0"), nil, version140, "tag-exists", "annotated, by Ada Example"},
		{"tag is packed", git("tag -a -m x v1.4.0", "pack-refs --all"), nil, version140, "tag-exists", "annotated"},
		{"tag is lightweight", git("tag v1.4.0"), nil, version140, "tag-exists", "lightweight"},
		{"tag is lightweight and packed", git("tag v1.4.0", "pack-refs --all"), nil, version140, "tag-exists", "lightweight"},
		{"tag is a folder", git("tag v1.4.0/rc"), nil, version140, "tag-exists", "v1.4.0/rc"},
		// R22, R37
		{"changed file", func(_ *testing.T, r *gittest.Repo) { r.Write("f.txt", "two\n") }, nil, version140, "dirty-worktree", ".M f.txt"},
		{"staged file", func(_ *testing.T, r *gittest.Repo) { r.Write("g.txt", "two\n"); r.Git("add", "g.txt") }, nil, version140, "dirty-worktree", "A. g.txt"},
		{"removed file", git("rm -q f.txt"), nil, version140, "dirty-worktree", "D. f.txt"},
		{"merge under way", func(_ *testing.T, r *gittest.Repo) { r.Write(".git/MERGE_HEAD", r.Git("rev-parse", "HEAD")+"\n") }, nil, version140, "operation-in-progress", "merge"},
		{"detached", git("checkout -q --detach"), nil, version140, "detached-head", `"HEAD" among branches`},
		{"other branch", git("checkout -q -b feat"), map[string]any{"branches": []any{"main", "release/*"}}, version140, "branch-not-allowed", "branch feat may not release: branches allows main, release/*"},
		{"untracked changelog to commit", git("rm -q --cached CHANGELOG.md", "commit -qm gone"), map[string]any{"commit": true}, version140, "untracked-changelog", "git add"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			if tt.lay != nil {
				tt.lay(t, r)
			}
			require.Contains(t, refuse(t, r, tt.cfg, tt.args, tt.kind), tt.says)
		})
	}
}

func TestReleaseNeedsACommit(t *testing.T) {
	r := gittest.Init(t)
	r.Write("CHANGELOG.md", gittest.Changelog)
	require.Contains(t, refuse(t, r, nil, version140, "no-commit"), "main")
}

// A machine that crashes may leave the file of a branch empty.
func TestReleaseNeedsABranchThatCanBeRead(t *testing.T) {
	r := gittest.New(t)
	r.Write(".git/refs/heads/main", "")
	require.Contains(t, refuse(t, r, nil, version140, "unsupported-repository"), "git reflog")
}

func TestReleaseNeedsARepository(t *testing.T) {
	r := gittest.New(t)
	h := start(t, r, nil)
	h.Dir = t.TempDir()
	res := h.Call(t.Context(), "release", version140)
	require.Contains(t, res.Err.GetMessage(), "git init")
}

// R24: without an identity nothing is written, and the way out is shown.
func TestReleaseNeedsAnIdentity(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "--unset", "user.name")
	r.Git("config", "--unset", "user.email")
	said := refuse(t, r, nil, version140, "no-identity")
	require.Contains(t, said, `git config user.name "Your Name"`)
	require.Contains(t, said, "git config user.email you@example.com")
}

// R25
func TestReleaseOfAShallowClone(t *testing.T) {
	r := gittest.New(t)
	for range 3 {
		r.Git("commit", "-q", "--allow-empty", "-m", "more")
	}
	clone := r.At(filepath.Join(t.TempDir(), "clone"))
	r.Git("clone", "-q", "--depth", "2", "file://"+r.Dir, clone.Dir)
	clone.Git("config", "user.name", "Ada Example")
	clone.Git("config", "user.email", "ada@example.com")
	require.Contains(t, refuse(t, clone, nil, version140, "shallow-repository"), "git fetch --unshallow --tags")

	clone.Git("fetch", "-q", "--tags")
	clone.Git("fetch", "-q", "--depth", "2")
	require.Equal(t, "true", clone.Git("rev-parse", "--is-shallow-repository"))
	run(t, start(t, clone, nil), "release", version140)
	requireGitAgrees(t, clone, "v1.4.0")
}

func TestReleaseNeedsGit(t *testing.T) {
	r := gittest.New(t)
	path := os.Getenv("PATH")
	h := start(t, r, nil)
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "git"), []byte("#!/bin/sh\n"), 0o755))
	t.Chdir(r.Dir)
	for lead, want := range map[string]string{t.TempDir(): "it is not on PATH", ".": "PATH leads to one by a relative path"} {
		t.Setenv("PATH", lead)
		res := h.Call(t.Context(), "release", version140)
		require.Equal(t, "no-git", res.Err.GetDetails().AsMap()["kind"])
		require.Contains(t, res.Err.GetMessage(), want)
	}
	t.Setenv("PATH", path)
}
