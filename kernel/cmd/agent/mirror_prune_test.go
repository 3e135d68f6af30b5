package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// A mirror is made, and installed from with the network off: as a folder, and as the address of a server.
func TestMirror(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"), filesystem(t, "2.1.0"))
	m.must("init")
	r := m.must("providers", "mirror", m.path("mirror"), "--platform", here, "--platform", elsewhere)
	require.Regexp(t, `filesystem .*2\.0\.0 .*3 .*3 .*github\.com`, r.stdout)
	index := m.read("mirror/github.com/agentco/provider-filesystem/index.json")
	require.Contains(t, index, "provider-filesystem_2.0.0_"+elsewhere+".tar.gz")

	// A second version beside the first, which stays as it is.
	m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "~> 2.0.0", "~> 2.0", 1))
	m.must("init", "--upgrade")
	m.must("providers", "mirror", m.path("mirror"))
	r = m.must("providers", "mirror", m.path("mirror"), "--json")
	require.Contains(t, r.stdout, `"version":"2.1.0"`)
	require.NotContains(t, r.stdout, ".tar.gz\"],\"source", "the archive is not fetched again")
	index = m.read("mirror/github.com/agentco/provider-filesystem/index.json")
	require.Contains(t, index, `"2.0.0"`)
	require.Contains(t, index, `"2.1.0"`)
	left, err := filepath.Glob(m.path("mirror/github.com/agentco/provider-filesystem/*/.new-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	for name, address := range map[string]string{"folder": m.path("mirror"), "server": m.net.LoopbackMirror(m.path("mirror"), "")} {
		t.Run(name, func(t *testing.T) {
			offline := newMachine(t)
			offline.write("config/agent/config.hcl", fmt.Sprintf("registry_mirror {\n  default = %q\n}\n", address))
			r := offline.must("init")
			require.Contains(t, r.stdout, address)
			require.Equal(t, "2.0.0", offline.locked("filesystem").Version)
			require.Len(t, offline.locked("filesystem").Checksums, 2)
			offline.must("invoke", "filesystem.list_directory", "path=.")
			require.Empty(t, offline.net.Requests(), "nothing but the mirror is asked")
		})
	}
}

// What make snapshot builds is laid out as a mirror, and the providers of README.md are installed from it.
func TestMirrorOfADist(t *testing.T) {
	m := newMachine(t)
	lay := func() ran {
		return m.runCommand(exec.CommandContext(t.Context(), "sh", filepath.Join("..", "..", "..", "tools", "mirror-dist.sh"), m.path("dist"), m.path("mirror")))
	}
	require.Equal(t, 2, lay().code, "there is no dist folder")
	for _, version := range []string{"0.0.9", "0.1.0"} {
		require.NoError(t, os.RemoveAll(m.path("dist")))
		var all []registrytest.Asset
		for _, name := range []string{"bash", "filesystem", "release-tools"} {
			for _, asset := range registrytest.Built("provider-"+name, version, binary(t, name), here).Assets {
				if strings.HasSuffix(asset.Name, ".tar.gz") {
					m.write("dist/"+asset.Name, string(asset.Data))
					all = append(all, asset)
				}
			}
		}
		m.write("dist/checksums.txt", string(registrytest.Sums(all...)))
		m.write("dist/agent_"+version+"_"+here+".tar.gz", "not a provider")
		r := lay()
		require.Equal(t, 0, r.code, r.stderr)
		require.Equal(t, 3, strings.Count(r.stdout, version), r.stdout)
	}
	m.write("config/agent/config.hcl", fmt.Sprintf("registry_mirror {\n  default = %q\n}\n", m.path("mirror")))
	m.write("project/agent.hcl", `required_providers {
  filesystem    = { source = "github.com/agentco/agent//provider-filesystem", version = "~> 0.1.0" }
  bash          = { source = "github.com/agentco/agent//provider-bash", version = "~> 0.1.0" }
  release-tools = { source = "github.com/agentco/agent//provider-release-tools", version = "= 0.0.9" }
}

provider "filesystem" {
  allowed_roots = [path.root]
}
`)
	m.must("init")
	require.Equal(t, "0.1.0", m.locked("bash").Version)
	require.Equal(t, "0.0.9", m.locked("release-tools").Version, "an earlier one stays")
	require.Contains(t, m.must("invoke", "bash.bash", "command=echo it runs", "--yes").stdout, "it runs")
	require.Empty(t, m.net.Requests())

	require.NoError(t, os.RemoveAll(m.path("dist")))
	m.write("dist/checksums.txt", "")
	r := lay()
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "holds no archive of provider-bash")
}

// A mirror whose index is none is somebody else's folder: nothing in it is changed.
func TestMirrorIntoAStrangeFolder(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.must("init")
	const index = "mirror/github.com/agentco/provider-filesystem/index.json"
	m.write(index, "<html>")
	r := m.run("providers", "mirror", m.path("mirror"))
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, m.path(index))
	require.Equal(t, "<html>", m.read(index))
	entries, err := os.ReadDir(filepath.Dir(m.path(index)))
	require.NoError(t, err)
	require.Len(t, entries, 1)

	m.write("file", "")
	require.Contains(t, m.fails(1, "providers", "mirror", m.path("file")).stderr, m.path("file"))
	require.Contains(t, m.fails(2, "providers", "mirror").stderr, "name one folder")
	require.Contains(t, m.fails(1, "providers", "mirror", m.path("mirror2"), "--platform", "solaris_amd64").stderr, "It is released for")
}

// What a lock file of any known project needs stays, and so does what a kept session ran.
func TestPrune(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"), filesystem(t, "2.0.1"), filesystem(t, "2.0.2"))
	at := func(constraint string) {
		m.write("project/agent.hcl", fmt.Sprintf(`required_providers {
  filesystem = { source = "github.com/agentco/provider-filesystem", version = %q }
}
provider "filesystem" {
  allowed_roots = [path.root]
}
`, constraint))
		m.must("init")
	}
	at("= 2.0.0")
	require.NoError(t, os.Rename(m.path("project"), m.path("first")))
	// A project that moved is known again once it is initialised at its new place.
	first := m.command("init")
	first.Dir = m.path("first")
	require.Equal(t, 0, m.runCommand(first).code)
	at("= 2.0.1")
	at("= 2.0.2")
	require.Len(t, m.versions(), 3)

	r := m.must("providers", "prune", "--dry-run")
	require.Contains(t, r.stdout, "would remove 1, ")
	require.Len(t, m.versions(), 3)
	r = m.must("providers", "prune")
	require.Regexp(t, `github\.com/agentco/provider-filesystem .*2\.0\.1 .*`+here+` .*MiB`, r.stdout)
	require.Equal(t, []string{"2.0.0", "2.0.2"}, m.versions())
	require.Contains(t, m.must("providers", "prune").stdout, "there is nothing to remove")

	// A lock file that nobody can read may need anything.
	text := m.read("first/.agent/agent.lock.hcl")
	m.write("first/.agent/agent.lock.hcl", "<<<<<<< HEAD\n"+text)
	r = m.fails(2, "providers", "prune")
	require.Contains(t, r.stderr, "merge conflict")
	require.Contains(t, r.stderr, m.path("first"))
	m.write("first/.agent/agent.lock.hcl", text)

	require.NoError(t, os.RemoveAll(m.path("first")))
	m.must("providers", "prune")
	require.Equal(t, []string{"2.0.2"}, m.versions())
	m.must("init")

	// A kept session is replayed with what it ran.
	m.must("invoke", "filesystem.list_directory", "path=.")
	at("= 2.0.0")
	m.must("providers", "prune")
	require.Equal(t, []string{"2.0.0", "2.0.2"}, m.versions())
	m.must("session", "prune", "--keep", "0", "--yes")
	m.must("providers", "prune")
	require.Equal(t, []string{"2.0.0"}, m.versions())
}

// versions are those of provider-filesystem in the cache.
func (m *machine) versions() (found []string) {
	m.Helper()
	folders, err := filepath.Glob(m.path("cache/agent/providers/github.com/agentco/provider-filesystem/*"))
	require.NoError(m, err)
	for _, folder := range folders {
		found = append(found, filepath.Base(folder))
	}
	return found
}
