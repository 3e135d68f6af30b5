// Package gittest makes real repositories for tests, with the git command line, cut off from the settings of whoever
// runs them.
package gittest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Changelog is a small changelog with something to release after 1.3.0.
const Changelog = `# Changelog

## [Unreleased]

### Added

- Add slashcommand.v1 category

## [1.3.0] - 2026-01-02

- Older

[Unreleased]: https://github.com/example/app/compare/v1.3.0...HEAD
[1.3.0]: https://github.com/example/app/releases/tag/v1.3.0
`

// Repo is a working tree.
type Repo struct {
	Dir string
	t   testing.TB
}

// Isolate gives the test a home of its own, without any git settings, and returns it.
func Isolate(t testing.TB) string {
	home := t.TempDir()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			require.NoError(t, os.Unsetenv(name))
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GNUPGHOME", filepath.Join(home, "gnupg"))
	return home
}

// New makes a repository with an identity, Changelog committed on main and tagged v1.3.0.
func New(t testing.TB) *Repo {
	r := Init(t)
	r.Write("CHANGELOG.md", Changelog)
	r.Write("f.txt", "one\n")
	r.Commit("first")
	r.Git("tag", "-a", "-m", "Release 1.3.0", "v1.3.0")
	return r
}

// Init makes an empty repository with an identity.
func Init(t testing.TB, args ...string) *Repo {
	Isolate(t)
	r := &Repo{Dir: t.TempDir(), t: t}
	r.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	r.Dir = r.Git("rev-parse", "--show-toplevel") // the temporary folder may be behind a link
	r.Git("config", "user.name", "Ada Example")
	r.Git("config", "user.email", "ada@example.com")
	return r
}

// At is the same helper for another working tree.
func (r *Repo) At(dir string) *Repo { return &Repo{Dir: dir, t: r.t} }

// Git runs git and returns its output without the last newline.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.Dir}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimRight(string(out), "\n")
}

// Commit commits everything.
func (r *Repo) Commit(message string) {
	r.t.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", message)
}

// Write writes a file below the working tree.
func (r *Repo) Write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.Dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o644))
}

// Hook installs a hook as a shell script.
func (r *Repo) Hook(name, script string) {
	r.t.Helper()
	path := r.Git("rev-parse", "--git-path", "hooks/"+name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

// Read reads a file below the working tree.
func (r *Repo) Read(name string) string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.Dir, name))
	require.NoError(r.t, err)
	return string(raw)
}

// Snapshot holds every byte that a refused release must leave alone: files of the working tree, refs, HEAD and index.
// Objects and reflogs are left out, as they show nothing by themselves.
func (r *Repo) Snapshot() map[string]string {
	r.t.Helper()
	files := map[string]string{}
	require.NoError(r.t, filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.Dir, path)
		if d.IsDir() {
			switch rel {
			case filepath.Join(".git", "objects"), filepath.Join(".git", "logs"):
				return fs.SkipDir
			}
			return nil
		}
		if rel == filepath.Join(".git", "COMMIT_EDITMSG") || !d.Type().IsRegular() {
			return nil
		}
		raw, err := os.ReadFile(path)
		files[rel] = string(raw)
		return err
	}))
	return files
}

// Exists reports whether there is a file below the working tree.
func (r *Repo) Exists(name string) bool {
	_, err := os.Stat(filepath.Join(r.Dir, name))
	return err == nil
}

// Conflict runs git and expects it to end in a conflict.
func (r *Repo) Conflict(args ...string) {
	r.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.Dir}, args...)...).CombinedOutput()
	require.Error(r.t, err, "git %s went through: %s", strings.Join(args, " "), out)
}
