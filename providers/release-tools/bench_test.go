package main

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
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

func BenchmarkChangelog(b *testing.B) {
	r := grown(b)
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
			s := release.Settings{Changelog: "CHANGELOG.md", TagPrefix: "v", TagMessage: "{version}", CommitMessage: "{version}", Commit: commit}
			head := r.Git("rev-parse", "HEAD")
			rep := release.Reporter{Status: func(string) {}, Stdout: io.Discard, Report: func(string) {}}
			for b.Loop() {
				p, err := release.Prepare(b.Context(), s, release.Request{Dir: r.Dir, Version: "1.4.0", Now: time.Now()})
				require.NoError(b, err)
				_, err = p.Run(b.Context(), rep)
				require.NoError(b, err)
				b.StopTimer()
				r.Git("tag", "-d", "v1.4.0")
				r.Git("reset", "-q", "--hard", head)
				b.StartTimer()
			}
		})
	}
}
