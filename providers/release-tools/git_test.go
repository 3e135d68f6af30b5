package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

var committing = map[string]any{"commit": true}

// R20: a linked worktree has a file for .git, and HEAD, index and tags in different places.
func TestReleaseInALinkedWorktree(t *testing.T) {
	for _, extension := range []bool{false, true} { // R21: set by git worktree and by agents, refused by go-git
		r := gittest.New(t)
		if extension {
			r.Git("config", "extensions.worktreeConfig", "true")
		}
		wt := r.At(filepath.Join(t.TempDir(), "wt"))
		r.Git("worktree", "add", "-q", wt.Dir, "-b", "feat")
		main := r.Git("rev-parse", "main")
		h := start(t, wt, committing)
		require.Contains(t, run(t, h, "changelog", nil).Result["unreleased"], "slashcommand.v1")
		run(t, h, "release", version140)
		requireGitAgrees(t, r, "v1.4.0")
		require.Equal(t, main, r.Git("rev-parse", "main"))
		require.Equal(t, r.Git("rev-parse", "feat"), r.Git("rev-parse", "v1.4.0^{commit}"))
		require.Empty(t, wt.Git("status", "--porcelain"))
		require.Empty(t, r.Git("status", "--porcelain"))
	}
}

// R21: with both format versions.
func TestReleaseWithHarmlessExtensions(t *testing.T) {
	for _, format := range []string{"0", "1"} {
		for _, extension := range []string{"worktreeConfig", "preciousObjects"} {
			t.Run(format+" "+extension, func(t *testing.T) {
				r := gittest.New(t)
				r.Git("config", "core.repositoryFormatVersion", format)
				r.Git("config", "extensions."+extension, "true")
				run(t, start(t, r, nil), "release", version140)
				requireGitAgrees(t, r, "v1.4.0")
				require.Equal(t, "true", r.Git("config", "extensions."+extension))
			})
		}
	}
}

// R22: the index no longer matches the file's time, and the bytes differ only by line endings.
func TestReleaseOfACleanTreeWithOtherLineEndings(t *testing.T) {
	tests := []struct {
		name string
		lay  func(r *gittest.Repo, origin string)
	}{
		{"autocrlf", func(r *gittest.Repo, origin string) {
			r.Git("clone", "-q", "-c", "core.autocrlf=true", origin, r.Dir)
		}},
		{"autocrlf of the user", func(r *gittest.Repo, origin string) {
			r.Git("config", "--global", "core.autocrlf", "true")
			r.Git("clone", "-q", origin, r.Dir)
		}},
		{"attributes", func(r *gittest.Repo, origin string) {
			o := r.At(origin)
			o.Write(".gitattributes", "* text eol=crlf\n")
			o.Commit("attributes")
			r.Git("clone", "-q", origin, r.Dir)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			origin := gittest.New(t)
			r := origin.At(filepath.Join(t.TempDir(), "clone"))
			require.NoError(t, os.Mkdir(r.Dir, 0o755))
			tt.lay(r, origin.Dir)
			r.Git("config", "user.name", "Ada Example")
			r.Git("config", "user.email", "ada@example.com")
			require.Equal(t, "one\r\n", r.Read("f.txt"))
			require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "f.txt"), []byte("one\r\n"), 0o644))
			require.Empty(t, r.Git("status", "--porcelain"))

			r.Write("f.txt", "really changed\r\n")
			refuse(t, r, committing, version140, "dirty-worktree")
			r.Write("f.txt", "one\r\n")

			// R34: the blob has LF, the file stays CRLF.
			run(t, start(t, r, committing), "release", version140)
			require.Equal(t, strings.ReplaceAll(promoted, "\n", "\r\n"), r.Read("CHANGELOG.md"))
			require.Equal(t, strings.TrimRight(promoted, "\n"), r.Git("cat-file", "blob", "HEAD:CHANGELOG.md"))
			require.Empty(t, r.Git("status", "--porcelain"))
		})
	}
}

// R24: the identity git would use is used, for commit and tag.
func TestReleaseIdentity(t *testing.T) {
	want := "Grace Other <grace@example.com>"
	tests := []struct {
		name string
		lay  func(t *testing.T, home string)
		env  map[string]any
	}{
		{"included", func(t *testing.T, home string) {
			require.NoError(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[include]\n\tpath = ~/ident\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(home, "ident"), []byte("[user]\n\tname = Grace Other\n\temail = grace@example.com\n"), 0o644))
		}, nil},
		{"environment", func(t *testing.T, _ string) {
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				t.Setenv("GIT_"+who+"_NAME", "Grace Other")
				t.Setenv("GIT_"+who+"_EMAIL", "grace@example.com")
			}
		}, nil},
		{"configured, as a kernel hands on nothing of its own environment", func(*testing.T, string) {}, map[string]any{
			"GIT_AUTHOR_NAME": "Grace Other", "GIT_AUTHOR_EMAIL": "grace@example.com", "GIT_AUTHOR_DATE": "1767323045 +0000",
			"GIT_COMMITTER_NAME": "Grace Other", "GIT_COMMITTER_EMAIL": "grace@example.com", "GIT_DIR": "/nowhere",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Git("config", "--unset", "user.name")
			r.Git("config", "--unset", "user.email")
			tt.lay(t, os.Getenv("HOME"))
			run(t, start(t, r, map[string]any{"commit": true, "env": tt.env}), "release", version140)
			require.Equal(t, want+" "+want, r.Git("log", "-1", "--format=%an <%ae> %cn <%ce>"))
			if date, given := tt.env["GIT_AUTHOR_DATE"]; given {
				require.Equal(t, date, r.Git("log", "-1", "--format=%ad", "--date=raw"))
			}
			require.Equal(t, want, r.Git("for-each-ref", "--format=%(taggername) %(taggeremail)", "refs/tags/v1.4.0"))
		})
	}
}

// R27: hooks run; one that fails ends the release with what it said, and nothing stands.
func TestReleaseRunsHooks(t *testing.T) {
	for _, hook := range []string{"pre-commit", "commit-msg"} {
		for _, elsewhere := range []bool{false, true} {
			r := gittest.New(t)
			if elsewhere {
				r.Git("config", "core.hooksPath", t.TempDir())
			}
			r.Hook(hook, "echo the linter is unhappy >&2; exit 1")
			require.Contains(t, refuse(t, r, committing, version140, "release-failed"), "the linter is unhappy")
			r.Hook(hook, "touch .git/ran; git diff --cached --quiet -- '*.md' && exit 1; exit 0")
			run(t, start(t, r, committing), "release", version140)
			require.FileExists(t, filepath.Join(r.Dir, ".git", "ran"))
		}
	}
}

// R28: faults that only show at the step itself are undone.
func TestReleaseFailsAtAStep(t *testing.T) {
	tests := []struct {
		name, lock string
		cfg        map[string]any
	}{
		{"tag is locked", "refs/tags/v1.4.0.lock", nil},
		{"tag is locked after the commit", "refs/tags/v1.4.0.lock", committing},
		{"index is locked", "index.lock", committing},
		{"branch is locked", "refs/heads/main.lock", committing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write(".git/"+tt.lock, "")
			said := refuse(t, r, tt.cfg, version140, "release-failed")
			require.Contains(t, said, "nothing of it stands")
			require.Contains(t, said, filepath.Base(tt.lock))
			require.NotContains(t, r.Git("fsck", "--strict", "--no-dangling"), "error")
		})
	}
}

// R29: each prefix has its own releases.
func TestReleaseOfAModule(t *testing.T) {
	r := gittest.New(t)
	for _, tag := range []string{"v2.5.0", "sdk/v1.2.2", "sdk/v1.2.3", "providers/aws/v0.4.0"} {
		r.Git("tag", tag)
	}
	r.Write("sdk/CHANGELOG.md", "## [Unreleased]\n\n- x\n\n## [1.2.3] - 2026-01-01\n\n- y\n\n"+
		"[Unreleased]: https://github.com/example/app/compare/sdk%2Fv1.2.3...HEAD\n"+
		"[1.2.3]: https://github.com/example/app/compare/sdk%2Fv1.2.2...sdk%2Fv1.2.3\n")
	r.Commit("sdk")
	run(t, start(t, r, map[string]any{"tag_prefix": "sdk/v", "changelog_path": "sdk/CHANGELOG.md", "commit": true}), "release", map[string]any{"version": "1.2.4"})
	require.Equal(t, "tag", r.Git("cat-file", "-t", "sdk/v1.2.4"))
	require.Contains(t, r.Read("sdk/CHANGELOG.md"), "[Unreleased]: https://github.com/example/app/compare/sdk%2Fv1.2.4...HEAD\n"+
		"[1.2.4]: https://github.com/example/app/compare/sdk%2Fv1.2.3...sdk%2Fv1.2.4\n")

	require.Contains(t, refuse(t, r, nil, map[string]any{"version": "2.4.9"}, "not-newer"), "tag v2.5.0")
	run(t, start(t, r, nil), "release", map[string]any{"version": "2.5.1"})
}

// R12: an ssh remote gives web links, GitLab's with its own mark; one that nobody knows gives a warning.
func TestReleaseLinksByRemote(t *testing.T) {
	notes := "## [Unreleased]\n\n- x\n\n## [1.3.0] - 2026-01-02\n\n- y\n"
	for remote, want := range map[string]string{
		"git@gitlab.com:group/sub/app.git": "[1.4.0]: https://gitlab.com/group/sub/app/-/compare/v1.3.0...v1.4.0\n",
		"git@git.example.org:app.git":      "- y\n",
	} {
		r := gittest.New(t)
		r.Git("remote", "add", "origin", remote)
		r.Write("CHANGELOG.md", notes)
		res := run(t, start(t, r, nil), "release", version140)
		require.True(t, strings.HasSuffix(r.Read("CHANGELOG.md"), want), r.Read("CHANGELOG.md"))
		require.Equal(t, strings.HasPrefix(want, "- y"), res.Result["warnings"] != nil)
	}
}

// R30: the last release is the highest by precedence; a final one compares with the last final one.
func TestReleaseAfterPreReleases(t *testing.T) {
	r := gittest.New(t)
	for _, tag := range []string{"v1.4.0-rc.1", "nightly", "list", "release-old", "v1.x"} {
		r.Git("tag", tag)
	}
	require.Contains(t, refuse(t, r, nil, map[string]any{"version": "1.4.0-beta.7"}, "not-newer"), "1.4.0-rc.1")
	run(t, start(t, r, nil), "release", version140)
	require.Contains(t, r.Read("CHANGELOG.md"), "compare/v1.3.0...v1.4.0\n")

	r.Write("CHANGELOG.md", strings.Replace(r.Read("CHANGELOG.md"), "## [Unreleased]\n", "## [Unreleased]\n\n- Next\n", 1))
	run(t, start(t, r, nil), "release", map[string]any{"version": "1.5.0-rc.1"})
	require.Contains(t, r.Read("CHANGELOG.md"), "compare/v1.4.0...v1.5.0-rc.1\n")
}

// R37: a submodule that is dirty or moved is a change like any other, and a release never moves it.
func TestReleaseWithASubmodule(t *testing.T) {
	lib := gittest.New(t)
	r := gittest.New(t)
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "sub")
	r.Commit("sub")
	at := r.Git("rev-parse", "HEAD:sub")
	sub := r.At(filepath.Join(r.Dir, "sub"))
	sub.Git("config", "user.name", "Ada Example")
	sub.Git("config", "user.email", "ada@example.com")

	sub.Write("f.txt", "edited\n")
	require.Contains(t, refuse(t, r, committing, version140, "dirty-worktree"), " sub")
	sub.Commit("moved")
	require.Contains(t, refuse(t, r, committing, version140, "dirty-worktree"), " sub")
	run(t, start(t, r, map[string]any{"commit": true, "allow_dirty": true}), "release", version140)
	require.Equal(t, at, r.Git("rev-parse", "HEAD:sub"))

	// A submodule is a repository of its own.
	run(t, start(t, sub, committing), "release", map[string]any{"version": "2.0.0"})
	require.Equal(t, "tag", sub.Git("cat-file", "-t", "v2.0.0"))
	require.Empty(t, r.Git("tag", "-l", "v2.0.0"))
}

// The notes may be finished right before the release.
func TestReleaseOfAnEditedChangelog(t *testing.T) {
	r := gittest.New(t)
	r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "category\n", "category\n- Late entry\n", 1))
	run(t, start(t, r, committing), "release", version140)
	require.Contains(t, r.Git("show", "v1.4.0:CHANGELOG.md"), "- Late entry")
	require.Empty(t, r.Git("status", "--porcelain"))
}

func TestReleaseFromAnAllowedBranch(t *testing.T) {
	r := gittest.New(t)
	r.Git("checkout", "-q", "-b", "release/1.x")
	run(t, start(t, r, map[string]any{"branches": []any{"main", "release/*"}}), "release", version140)
	requireGitAgrees(t, r, "v1.4.0")
}

// A changelog that is a link inside the repository is released where it really lies.
func TestReleaseOfALinkedChangelog(t *testing.T) {
	r := gittest.New(t)
	r.Git("mv", "CHANGELOG.md", "notes.md")
	require.NoError(t, os.Symlink("notes.md", filepath.Join(r.Dir, "CHANGELOG.md")))
	r.Commit("link")
	run(t, start(t, r, committing), "release", version140)
	require.Equal(t, "notes.md", r.Git("show", "--format=", "--name-only", "HEAD"))
	require.Equal(t, promoted, r.Read("notes.md"))
}
