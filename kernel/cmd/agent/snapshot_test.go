package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// snapshots is a folder with one dist folder of goreleaser for each of the versions 1.0.0, 2.0.0 and 2.0.1 of this
// repository: tools/check-release.sh makes them.
const snapshots = "AGENT_SNAPSHOTS"

// From a release of this repository, as it is built, to calls on a machine that has nothing but the released agent.
func TestReleaseOfThisRepository(t *testing.T) {
	dir := os.Getenv(snapshots)
	if dir == "" {
		t.Skip(snapshots + " names no builds of this repository: make check-release makes them and runs this test")
	}
	m := newMachine(t)
	dist := func(version string) registrytest.Release { return m.net.Dist(filepath.Join(dir, version)) }
	forge := m.net.GitHub("github.com")
	// Each of the documents that the project came from has a repository of its own; bash is one of several in one.
	forge.Publish("agentco/provider-filesystem", dist("2.0.0"))
	forge.Publish("agentco/provider-release-tools", dist("1.0.0"))
	forge.Publish("agentco/agent", dist("2.0.0"))
	m.write("project/agent.hcl", `required_providers {
  filesystem = {
    source  = "github.com/agentco/provider-filesystem"
    version = "~> 2.0.0"
  }
  release-tools = {
    source  = "github.com/agentco/provider-release-tools"
    version = "~> 1.0.0"
  }
  bash = {
    source  = "github.com/agentco/agent//provider-bash"
    version = "~> 2.0"
  }
}

provider "filesystem" {
  allowed_roots = ["${path.root}"]
}

provider "bash" {
  allowed_roots = ["${path.root}"]
}

provider "release-tools" {
  changelog_path = "CHANGELOG.md"
}
`)
	m.write("project/CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- The parser.\n\n## [1.3.0] - 2026-01-01\n\n- It works.\n")
	m.write("project/notes.txt", "one\ntwo\n")
	m.releasedAgent(filepath.Join(dir, "2.0.0"))

	require.Contains(t, m.must("version").stdout, "2.0.0")
	m.must("init")
	locked := m.read(lockFile)
	m.net.Forget()

	require.Contains(t, m.must("providers").stdout, "release-tools")
	require.Contains(t, m.must("invoke", "filesystem.read_file", "path=notes.txt").stdout, "two")
	require.Contains(t, m.must("run", "/changelog").stdout, "The parser.")
	require.Contains(t, m.must("invoke", "bash.bash", "command=echo from the shell", "--yes").stdout, "from the shell")
	m.must("invoke", "filesystem.write_file", "path=new.txt", "content=written", "--yes")
	require.Equal(t, "written", m.read("project/new.txt"))
	require.Equal(t, 3, m.run("invoke", "filesystem.delete", "path=new.txt").code, "nobody is there to approve it")
	m.must("session", "verify", "last")
	require.Empty(t, m.net.Requests(), "what is installed needs nobody")

	forge.Publish("agentco/provider-filesystem", dist("2.0.1"))
	require.Contains(t, m.must("init", "--upgrade", "--dry-run").stdout, "2.0.0 → 2.0.1")
	m.must("init", "--upgrade")
	require.Equal(t, "2.0.1", m.locked("filesystem").Version)
	require.Contains(t, m.must("providers").stdout, "2.0.1")

	m.net.Forget()
	m.write(lockFile, locked)
	m.must("init", "--lockfile=readonly")
	require.NotContains(t, m.must("providers").stdout, "2.0.1")
	require.Empty(t, m.net.Requests(), "both are in the cache")
}

// releasedAgent puts the agent of a release first on the path of the machine.
func (m *machine) releasedAgent(dist string) {
	m.Helper()
	archives, err := filepath.Glob(filepath.Join(dist, "agent_*_"+registry.Here().String()+".tar.gz"))
	require.NoError(m, err)
	require.Len(m, archives, 1)
	f, err := os.Open(archives[0])
	require.NoError(m, err)
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	require.NoError(m, err)
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		require.False(m, errors.Is(err, io.EOF), "%s holds no agent", archives[0])
		require.NoError(m, err)
		if entry.Name == "agent" {
			content, err := io.ReadAll(entries)
			require.NoError(m, err)
			m.agent = m.path("bin/agent")
			require.NoError(m, os.MkdirAll(filepath.Dir(m.agent), 0o755))
			require.NoError(m, os.WriteFile(m.agent, content, 0o755))
			require.NoError(m, exec.Command(m.agent, "version").Run())
			return
		}
	}
}
