package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/stretchr/testify/require"
)

// grown is a repository of 10,000 commits, 500 files and 200 annotated tags.
func grown(b *testing.B) *gittest.Repo {
	r := gittest.Init(b)
	var in strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter Ada Example <ada@example.com> %d +0000\ndata 6\nfix: x\n", i+1, 1_700_000_000+i)
		fmt.Fprintf(&in, "M 100644 inline dir%d/file%d\ndata <<E\n%d\nE\n\n", i%20, i%500, i)
		if i%50 == 49 {
			fmt.Fprintf(&in, "tag v0.%d.0\nfrom :%d\ntagger Ada Example <ada@example.com> %d +0000\ndata 1\nx\n", i/50, i+1, 1_700_000_000+i)
		}
	}
	cmd := exec.Command("git", "-C", r.Dir, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, "%s", out)
	r.Git("reset", "-q", "--hard")
	r.Write("CHANGELOG.md", gittest.Changelog)
	r.Commit("notes")
	return r
}

// sinceLast has 300 commits after the last tag: every second one of a kind that counts.
func sinceLast(b *testing.B) *gittest.Repo {
	r := grown(b)
	r.Git("tag", "v1.3.0", "v0.199.0^{}") // the last release of the changelog
	for i := range 300 {
		r.Git("commit", "-q", "--allow-empty", "-m", []string{"docs: y", fmt.Sprintf("fix: number %d", i)}[i%2])
	}
	return r
}

func BenchmarkNextVersion(b *testing.B) {
	r := sinceLast(b)
	s := settings()
	b.Run("provider", func(b *testing.B) {
		for b.Loop() {
			next, err := release.Next(b.Context(), s, r.Dir, "", time.Now())
			require.NoError(b, err)
			require.Equal(b, "1.4.0", next.Version.String())
			require.Len(b, next.Skipped, 151)
		}
	})
	b.Run("git log", func(b *testing.B) {
		for b.Loop() {
			r.Git("log", "-z", "--format=%H %P%n%B", "v1.3.0..HEAD")
		}
	})
	b.Run("git-cliff", func(b *testing.B) {
		cliff, err := exec.LookPath("git-cliff")
		if err != nil {
			b.Skip("git-cliff is not on PATH: npm install git-cliff@2.14.2")
		}
		for b.Loop() {
			cmd := exec.Command(cliff, "--bumped-version")
			cmd.Dir = r.Dir
			out, err := cmd.CombinedOutput()
			require.NoError(b, err, "%s", out)
		}
	})
}

// BenchmarkDraft proposes entries of two categories for a changelog of 300 kB.
func BenchmarkDraft(b *testing.B) {
	r := sinceLast(b)
	r.Write("CHANGELOG.md", strings.Replace(longChangelog(), "0.200.0", "1.3.0", 1))
	r.Git("commit", "-q", "--allow-empty", "-m", "feat: something new")
	for b.Loop() {
		drafted, err := release.Draft(b.Context(), settings(), r.Dir, "", time.Now())
		require.NoError(b, err)
		require.Len(b, drafted.Added, 151)
	}
}

// BenchmarkHistory is why the log is read by git: go-git has no way to stop at what the tag has but to walk all of it.
func BenchmarkHistory(b *testing.B) {
	r := sinceLast(b)
	open, err := repo.Open(b.Context(), r.Dir, time.Now())
	require.NoError(b, err)
	b.Run("git log", func(b *testing.B) {
		for b.Loop() {
			commits, err := open.History(b.Context(), "v1.3.0", "")
			require.NoError(b, err)
			require.Len(b, commits, 301)
		}
	})
	b.Run("go-git", func(b *testing.B) {
		for b.Loop() {
			require.Len(b, walk(b, r.Dir, "v1.3.0"), 301)
		}
	})
}

// walk is what HEAD has and the tag has not, by go-git.
func walk(b *testing.B, dir, tag string) (commits []*object.Commit) {
	g, err := git.PlainOpen(dir)
	require.NoError(b, err)
	at, err := g.ResolveRevision(plumbing.Revision(tag))
	require.NoError(b, err)
	base, err := g.CommitObject(*at)
	require.NoError(b, err)
	seen := map[plumbing.Hash]bool{}
	require.NoError(b, object.NewCommitPreorderIter(base, nil, nil).ForEach(func(c *object.Commit) error { seen[c.Hash] = true; return nil }))
	head, err := g.Head()
	require.NoError(b, err)
	tip, err := g.CommitObject(head.Hash())
	require.NoError(b, err)
	require.NoError(b, object.NewCommitPreorderIter(tip, seen, nil).ForEach(func(c *object.Commit) error { commits = append(commits, c); return nil }))
	return commits
}

func settings() release.Settings {
	return release.Settings{Changelog: "CHANGELOG.md", TagPrefix: "v", TagMessage: "{version}", CommitMessage: "{version}"}
}

func longChangelog() string {
	var notes strings.Builder
	notes.WriteString("# Changelog\n\n## [Unreleased]\n\n- x\n")
	for i := 200; i > 0; i-- {
		fmt.Fprintf(&notes, "\n## [0.%d.0] - 2026-01-02\n\n### Added\n\n%s", i, strings.Repeat("- An entry of some length, about `this` and [that](https://example.com)\n", 20))
	}
	return notes.String()
}

func BenchmarkChangelog(b *testing.B) {
	r := grown(b)
	r.Write("CHANGELOG.md", longChangelog())
	for b.Loop() {
		root, err := repo.Root(r.Dir)
		require.NoError(b, err)
		f, err := textfile.Open(root, "CHANGELOG.md")
		require.NoError(b, err)
		d, err := changelog.Parse(f.Name, f.Content)
		require.NoError(b, err)
		_, err = d.Unreleased()
		require.NoError(b, err)
	}
}

func BenchmarkRelease(b *testing.B) {
	for _, commit := range []bool{false, true} {
		b.Run(fmt.Sprintf("commit=%v", commit), func(b *testing.B) {
			r := grown(b)
			s := settings()
			s.Commit = commit
			head := r.Git("rev-parse", "HEAD")
			rep := release.Reporter{Status: func(string) {}, Stdout: io.Discard, Report: func(string) {}}
			for b.Loop() {
				p, err := release.Prepare(b.Context(), s, release.Request{Dir: r.Dir, Version: "1.4.0", Now: time.Now()})
				require.NoError(b, err)
				_, err = p.Run(b.Context(), rep)
				require.NoError(b, err)
				b.StopTimer()
				r.Git("tag", "-d", "v1.4.0")
				require.NoError(b, os.RemoveAll(filepath.Join(r.Dir, ".git", "release-tools")))
				r.Git("reset", "-q", "--hard", head)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkReleaseByGit is what a release costs without any check: git writes a commit and an annotated tag.
func BenchmarkReleaseByGit(b *testing.B) {
	r := grown(b)
	head := r.Git("rev-parse", "HEAD")
	for b.Loop() {
		r.Write("CHANGELOG.md", "x")
		r.Git("commit", "-q", "-m", "1.4.0", "--", "CHANGELOG.md")
		r.Git("tag", "-a", "-m", "1.4.0", "v1.4.0")
		b.StopTimer()
		r.Git("tag", "-d", "v1.4.0")
		r.Git("reset", "-q", "--hard", head)
		b.StartTimer()
	}
}

// BenchmarkUndo takes back what a release with a commit made.
func BenchmarkUndo(b *testing.B) {
	r := grown(b)
	s := settings()
	s.Commit = true
	rep := release.Reporter{Status: func(string) {}, Stdout: io.Discard, Report: func(string) {}}
	for b.Loop() {
		b.StopTimer()
		p, err := release.Prepare(b.Context(), s, release.Request{Dir: r.Dir, Version: "1.4.0", Now: time.Now()})
		require.NoError(b, err)
		_, err = p.Run(b.Context(), rep)
		require.NoError(b, err)
		b.StartTimer()
		u, err := release.PrepareUndo(b.Context(), s, r.Dir, "1.4.0", time.Now())
		require.NoError(b, err)
		_, err = u.Run(b.Context(), rep)
		require.NoError(b, err)
	}
}
