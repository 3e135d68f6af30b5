package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/sdk/sdktest"
	"github.com/stretchr/testify/require"
)

// situation is a repository as people have them. lay may return another working tree of it and the settings it needs.
type situation struct {
	name string
	lay  func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any)
	// refused is the kind of refusal of what needs more than the file; "" when everything works.
	refused string
}

func in(lay func(t *testing.T, r *gittest.Repo)) func(*testing.T, *gittest.Repo) (*gittest.Repo, map[string]any) {
	return func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) { lay(t, r); return r, nil }
}

func identify(r *gittest.Repo) *gittest.Repo {
	r.Git("config", "user.name", "Ada Example")
	r.Git("config", "user.email", "ada@example.com")
	return r
}

func clone(t *testing.T, r *gittest.Repo, args ...string) *gittest.Repo {
	c := r.At(filepath.Join(t.TempDir(), "clone"))
	r.Git(append(append([]string{"clone", "-q"}, args...), "file://"+r.Dir, c.Dir)...)
	return identify(c)
}

func ignoring(t *testing.T, name string) {
	path := filepath.Join(os.Getenv("HOME"), name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("*.log\n"), 0o644))
}

func withSubmodule(t *testing.T, r *gittest.Repo) *gittest.Repo {
	lib := r.At(t.TempDir())
	lib.Git("init", "-q", "-b", "main")
	identify(lib)
	lib.Write("f.txt", "one\n")
	lib.Write("CHANGELOG.md", gittest.Changelog)
	lib.Commit("first")
	lib.Git("tag", "-a", "-m", "x", "v1.3.0")
	lib.Git("commit", "-q", "--allow-empty", "-m", "fix: in the library")
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "sub")
	r.Commit("sub")
	return identify(r.At(filepath.Join(r.Dir, "sub")))
}

var situations = []situation{
	{"plain", in(func(*testing.T, *gittest.Repo) {}), ""},
	{"linked worktree (R20)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		wt := r.At(filepath.Join(t.TempDir(), "wt"))
		r.Git("worktree", "add", "-q", wt.Dir, "-b", "feat")
		return wt, nil
	}, ""},
	{"worktreeConfig (R21)", in(func(_ *testing.T, r *gittest.Repo) { r.Git("config", "extensions.worktreeConfig", "true") }), ""},
	// What git reads and go-git refuses a whole repository for.
	{"a branch of a pull request", in(func(_ *testing.T, r *gittest.Repo) { r.Git("config", "branch.main.merge", "refs/pull/12/head") }), ""},
	{"a branch that keeps merges", in(func(_ *testing.T, r *gittest.Repo) { r.Git("config", "branch.main.rebase", "merges") }), ""},
	{"a branch with an odd name", in(func(_ *testing.T, r *gittest.Repo) { r.Git("config", "branch.a..b.remote", "origin") }), ""},
	{"a refspec that excludes", in(func(_ *testing.T, r *gittest.Repo) {
		r.Git("config", "remote.old.fetch", "^refs/heads/tmp")
	}), ""},
	{"a configuration in every syntax", in(func(_ *testing.T, r *gittest.Repo) {
		config := r.Read(".git/config")
		r.Write(".git/config", "\ufeff"+config+"[core.odd]\r\n\tx = 1\n[alias]\n\tl = \"!f() { \\\n echo \\\"a\\\"; }; f\" ; comment\n[foo \"b\\\"c\"]\n\tk\n")
	}), ""},
	{"sha1 and files by name", in(func(_ *testing.T, r *gittest.Repo) {
		r.Git("config", "core.repositoryFormatVersion", "1")
		r.Git("config", "extensions.objectFormat", "sha1")
	}), ""},
	{"objects of another repository, signed", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		c := r.At(filepath.Join(t.TempDir(), "a:b"))
		r.Git("clone", "-q", "--shared", r.Dir, c.Dir)
		identify(c)
		sshKey(t, c)
		c.Git("remote", "remove", "origin") // release-undo would ask it
		return c, map[string]any{"sign": "ssh"}
	}, ""},
	{"shared by a group", in(func(_ *testing.T, r *gittest.Repo) { r.Git("config", "core.sharedRepository", "group") }), ""},
	{"autocrlf (R22, R34)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		c := clone(t, r, "-c", "core.autocrlf=true")
		c.Write("f.txt", "one\r\n")
		return c, nil
	}, ""},
	{"attributes (R22)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		r.Write(".gitattributes", "*.txt text eol=crlf\n")
		r.Commit("chore: attributes")
		c := clone(t, r)
		c.Write("f.txt", "one\r\n")
		return c, nil
	}, ""},
	{"global excludes (R23)", in(func(t *testing.T, r *gittest.Repo) {
		ignoring(t, "excludes")
		r.Git("config", "--global", "core.excludesFile", "~/excludes")
		r.Write("x.log", "")
	}), ""},
	{"excludes of the user (R23)", in(func(t *testing.T, r *gittest.Repo) { ignoring(t, ".config/git/ignore"); r.Write("x.log", "") }), ""},
	{"untracked file (R23)", in(func(_ *testing.T, r *gittest.Repo) { r.Write("x.tmp", "") }), ""},
	{"included identity (R24)", in(func(t *testing.T, r *gittest.Repo) {
		r.Git("config", "--unset", "user.email")
		require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("HOME"), "ident"), []byte("[user]\n\temail = ada@example.com\n"), 0o644))
		r.Git("config", "--global", "include.path", "~/ident")
	}), ""},
	{"shallow clone with its tag (R25)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		return clone(t, r, "--depth", "3"), nil
	}, ""},
	{"shallow clone without (R25)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		return clone(t, r, "--depth", "1"), nil
	}, "shallow-repository"},
	{"signed by ssh key (R26)", in(func(t *testing.T, r *gittest.Repo) {
		sshKey(t, r)
		r.Git("config", "gpg.format", "ssh")
		r.Git("config", "tag.gpgSign", "true")
		r.Git("config", "commit.gpgSign", "true")
	}), ""},
	{"hooks (R27)", in(func(_ *testing.T, r *gittest.Repo) {
		r.Hook("pre-commit", "exit 0")
		r.Hook("post-commit", "exit 0")
		r.Hook("reference-transaction", "exit 0")
	}), ""},
	{"packed refs (R28)", in(func(_ *testing.T, r *gittest.Repo) { r.Git("pack-refs", "--all", "--prune") }), ""},
	{"packed objects and a commit-graph", in(func(_ *testing.T, r *gittest.Repo) {
		r.Git("gc", "-q")
		r.Git("commit-graph", "write", "--reachable")
	}), ""},
	{"module (R29)", func(_ *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		r.Write("sdk/CHANGELOG.md", gittest.Changelog)
		r.Commit("docs: notes")
		r.Git("tag", "-a", "-m", "x", "sdk/v1.3.0")
		r.Write("sdk/a", "")
		r.Commit("fix: in the module")
		return r, map[string]any{"tag_prefix": "sdk/v", "changelog_path": "sdk/CHANGELOG.md"}
	}, ""},
	{"candidates and junk tags (R30)", in(func(_ *testing.T, r *gittest.Repo) {
		for _, tag := range []string{"v1.3.0-rc.1", "nightly", "list", "release-old"} {
			r.Git("tag", tag, "v1.3.0^{}")
		}
	}), ""},
	{"sha256 (R33)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		other := r.At(t.TempDir())
		other.Git("init", "-q", "-b", "main", "--object-format=sha256")
		identify(other).Write("CHANGELOG.md", gittest.Changelog)
		other.Commit("first")
		return other, nil
	}, "unsupported-repository"},
	{"index version 4 (R36)", in(func(_ *testing.T, r *gittest.Repo) {
		r.Git("config", "feature.manyFiles", "true")
		r.Git("update-index", "--index-version", "4")
	}), ""},
	{"a worktree of a submodule", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		wt := r.At(filepath.Join(t.TempDir(), "wt"))
		withSubmodule(t, r).Git("worktree", "add", "-q", wt.Dir, "-b", "feat")
		return wt, nil
	}, ""},
	{"submodule (R37)", in(func(t *testing.T, r *gittest.Repo) { withSubmodule(t, r) }), ""},
	{"in a submodule (R37)", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		return withSubmodule(t, r), nil
	}, ""},
	{"dirty submodule (R37)", in(func(t *testing.T, r *gittest.Repo) { withSubmodule(t, r).Write("f.txt", "two\n") }), "dirty-worktree"},
	{"moved submodule (R37)", in(func(t *testing.T, r *gittest.Repo) {
		withSubmodule(t, r).Git("commit", "-q", "--allow-empty", "-m", "moved")
	}), "dirty-worktree"},
	{"detached and allowed", func(_ *testing.T, r *gittest.Repo) (*gittest.Repo, map[string]any) {
		r.Git("checkout", "-q", "--detach")
		return r, map[string]any{"branches": []any{"HEAD"}}
	}, ""},
	{"detached", in(func(_ *testing.T, r *gittest.Repo) { r.Git("checkout", "-q", "--detach") }), "detached-head"},
	{"changed file", in(func(_ *testing.T, r *gittest.Repo) { r.Write("f.txt", "two\n") }), "dirty-worktree"},
	{"changed mode", in(func(t *testing.T, r *gittest.Repo) {
		require.NoError(t, os.Chmod(filepath.Join(r.Dir, "f.txt"), 0o755))
	}), "dirty-worktree"},
	{"touched file", in(func(_ *testing.T, r *gittest.Repo) { r.Write("f.txt", "two\n"); r.Write("f.txt", "one\n") }), ""},
}

// Every command in every situation: it finds what git finds, and git finds what it made.
func TestAgreesWithGit(t *testing.T) {
	for _, s := range situations {
		for _, commits := range []bool{false, true} {
			t.Run(s.name+map[bool]string{true: ", committing"}[commits], func(t *testing.T) {
				r := gittest.New(t)
				commit(r, "fix: one")
				commit(r, "feat: two")
				r, cfg := s.lay(t, r)
				cfg = maps.Clone(cfg)
				if cfg == nil {
					cfg = map[string]any{}
				}
				cfg["commit"] = commits
				a := agreement{r: r, h: start(t, r, cfg), prefix: "v", file: "CHANGELOG.md", refused: s.refused, commits: commits}
				if cfg["tag_prefix"] != nil {
					a.prefix, a.file = cfg["tag_prefix"].(string), cfg["changelog_path"].(string)
				}
				a.reading(t)
				a.releasing(t)
			})
		}
	}
}

// agreement compares one repository's commands with git.
type agreement struct {
	r            *gittest.Repo
	h            *sdktest.Harness
	prefix, file string
	refused      string
	commits      bool
}

func (a agreement) reading(t *testing.T) {
	before := a.state()
	require.Equal(t, "### Added\n\n- Add slashcommand.v1 category\n", run(t, a.h, "changelog", nil).Result["unreleased"])
	if a.refused == "unsupported-repository" || a.refused == "shallow-repository" {
		for _, command := range []string{"next-version", "changelog-draft"} {
			require.Equal(t, a.refused, kind(t, a.h, command, nil))
		}
		require.Equal(t, before, a.state())
		return
	}
	var tags []string
	for _, x := range run(t, a.h, "tags", nil).Result["tags"].([]any) {
		made := x.(map[string]any)
		tags = append(tags, made["tag"].(string))
		require.Equal(t, a.r.Git("log", "-1", "--format=%H", made["tag"].(string)), made["commit"])
		require.Equal(t, a.r.Git("for-each-ref", "--format=%(creatordate:short)", "refs/tags/"+made["tag"].(string)), made["date"])
	}
	require.ElementsMatch(t, strings.Fields(a.r.Git("tag", "-l", a.prefix+"[0-9]*")), tags)

	log := []string{"log", "--format=%s", a.prefix + "1.3.0..HEAD", "--"}
	if folder := strings.TrimSuffix(a.prefix, "v"); folder != "" {
		log = append(log, folder)
	}
	subjects := strings.Split(a.r.Git(log...), "\n")
	var said []string
	next := run(t, a.h, "next-version", map[string]any{"verbose": true}).Result
	for _, x := range next["reasons"].([]any) {
		if reason := x.(map[string]any); reason["source"] == "commit" {
			said = append(said, reason["text"].(string))
		}
	}
	skipped, _ := next["skipped"].([]any)
	for _, x := range skipped {
		said = append(said, x.(map[string]any)["subject"].(string))
	}
	require.ElementsMatch(t, subjects, said)
	require.Equal(t, "1.4.0", next["version"])
	require.NotEmpty(t, run(t, a.h, "changelog-draft", nil).Result["proposed"])
	require.Equal(t, before, a.state(), "reading changed something")
}

func (a agreement) releasing(t *testing.T) {
	before := a.state()
	tag := a.prefix + "1.4.0"
	if a.refused != "" {
		require.Equal(t, a.refused == "dirty-worktree", a.r.Git("status", "--porcelain", "--untracked-files=no") != "", "git is of another opinion")
		require.Equal(t, a.refused, kind(t, a.h, "release", version140))
		require.Equal(t, before, a.state())
		return
	}
	require.Empty(t, a.r.Git("status", "--porcelain", "--untracked-files=no"))
	run(t, a.h, "changelog-add", map[string]any{"section": "Fixed", "entry": "Late"})
	edited := a.state()
	res := run(t, a.h, "release", version140)
	requireGitAgrees(t, a.r, tag)
	require.Equal(t, res.Result["commit"], a.r.Git("rev-parse", "HEAD"))
	require.Equal(t, tag, a.r.Git("describe", "--match", a.prefix+"*", "HEAD"))
	if a.commits {
		require.Equal(t, a.file, a.r.Git("show", "--format=", "--name-only", "HEAD"))
		require.Empty(t, a.r.Git("status", "--porcelain", "--untracked-files=no"))
		require.NotContains(t, a.r.Git("cat-file", "blob", "HEAD:"+a.file), "\r")
	}
	if a.r.Git("config", "--default", "", "--get", "tag.gpgSign") == "true" {
		require.Contains(t, a.r.Git("tag", "-v", tag), `Good "git" signature`)
	}
	run(t, a.h, "release-undo", undo140)
	require.Equal(t, edited, a.state())
	require.NotContains(t, a.r.Git("fsck", "--strict", "--no-dangling"), "error")
}

// state is what git says of the repository, and the changelog.
func (a agreement) state() []string {
	return []string{
		a.r.Git("status", "--porcelain"), a.r.Git("for-each-ref"), a.r.Git("rev-parse", "HEAD"),
		a.r.Git("ls-files", "--stage"), a.r.Read(a.file),
	}
}
