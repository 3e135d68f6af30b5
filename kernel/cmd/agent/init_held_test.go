package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// A lock file that cannot be written is found out before anything is installed.
func TestInitWithoutAPlaceForTheLock(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	require.NoError(t, os.Symlink("/nowhere/agent", m.path("project/.agent")))
	r := m.run("init")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "write the lock file")
	require.Empty(t, m.versions())
}

// Of two providers one cannot be had: the other is not installed either.
func TestInitIsAllOrNothing(t *testing.T) {
	m := newMachine(t)
	forge := m.publish(filesystem(t, "2.0.0"))
	bash := registrytest.Built("provider-bash", "1.0.0", binary(t, "bash"), here)
	forge.Publish("agentco/agent", bash.With("provider-bash_1.0.0_"+here+".tar.gz", []byte("damaged")))
	m.write("project/agent.hcl", `required_providers {
  filesystem = { source = "github.com/agentco/provider-filesystem" }
  bash       = { source = "github.com/agentco/agent//provider-bash" }
}
provider "filesystem" {
  allowed_roots = [path.root]
}
`)
	r := m.run("init")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "cannot download provider-bash_1.0.0_")
	require.NoFileExists(t, m.path(lockFile))
	_, err := os.Stat(m.path("project/.agent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	installed, err := filepath.Glob(m.path("cache/agent/providers/*/*/*/*/*/*"))
	require.NoError(t, err)
	require.Empty(t, installed)

	// Each of several failures is told.
	m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "provider-filesystem\"", "provider-none\"", 1))
	forge.Publish("agentco/agent", registrytest.Release{Tag: "v1.0.0"})
	var failed struct {
		Error struct{ Problems []struct{ Kind string } }
	}
	require.NoError(t, json.Unmarshal([]byte(m.fails(1, "init", "--json").stdout), &failed))
	require.Len(t, failed.Error.Problems, 2)
	require.Equal(t, "not-found", failed.Error.Problems[0].Kind)
	require.Equal(t, "no-checksum", failed.Error.Problems[1].Kind)
	m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "provider-none\"", "provider-filesystem\"", 1))

	// The monorepo form, once it is whole.
	forge.Publish("agentco/agent", bash)
	m.must("init")
	require.Contains(t, m.must("tools").stdout, "bash.bash")
}

// In CI the lock file is not to change (K16).
func TestReadOnly(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"), filesystem(t, "2.1.0"))
	r := m.fails(2, "init", "--lockfile=readonly")
	require.Contains(t, r.stderr, "the lock file does not have it")
	m.must("init")

	// Another machine, with the lock file alone, and programs that it does not know.
	text := m.read(lockFile)
	unknowing := text[:strings.Index(text, "\n  programs")] + "}\n"
	require.NoError(t, os.RemoveAll(m.path("cache")))
	m.write(lockFile, unknowing)
	m.must("init", "--lockfile=readonly")
	require.Equal(t, unknowing, m.read(lockFile))
	m.net.Forget()
	m.must("init", "--lockfile=readonly")
	m.must("tools")
	require.Empty(t, m.net.Requests())
	// Downloads are verified, and so is what is installed, though the lock file says nothing of programs.
	m.tamper()
	r = m.run("invoke", "filesystem.list_directory", "path=.")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "checksum mismatch")

	agent := m.read("project/agent.hcl")
	m.write("project/agent.hcl", strings.Replace(agent, "~> 2.0.0", "~> 2.1.0", 1))
	r = m.fails(2, "init", "--lockfile=readonly")
	require.Contains(t, r.stderr, "agent.hcl:2:3")
	require.Contains(t, r.stderr, `the lock file has version 2.0.0, which "~> 2.1.0" does not allow`)
	require.Contains(t, m.fails(2, "tools").stderr, `the lock file has version 2.0.0, which "~> 2.1.0" does not allow`)
	m.must("init")
	require.Equal(t, "2.1.0", m.locked("filesystem").Version)

	m.write(lockFile, strings.Replace(m.read(lockFile), "  version ", "<<<<<<< HEAD\n  version ", 1))
	for _, args := range [][]string{{"init"}, {"init", "--lockfile=readonly"}, {"tools"}} {
		r = m.fails(2, args...)
		require.Contains(t, r.stderr, "The lock file holds a merge conflict")
		require.Regexp(t, `agent\.lock\.hcl:\d+:1`, r.stderr)
	}
	m.write(lockFile, "lock_file_version = 2\n")
	require.Contains(t, m.fails(2, "init").stderr, "The lock file is from a newer agent")
}

// Lock entries that nothing requires are a warning (K16), and go when the file is written anyway.
func TestUnusedLockEntries(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.must("init")
	text := m.read(lockFile)
	m.write(lockFile, text+strings.Replace(text[strings.Index(text, "\nprovider"):], `"filesystem"`, `"zsh"`, 1))
	r := m.must("init", "--lockfile=readonly")
	require.Contains(t, r.stderr, "warning: locked, but not required: zsh")
	r = m.must("init")
	require.Contains(t, r.stderr, "warning: no longer required, and no longer locked: zsh")
	require.Equal(t, text, m.read(lockFile))
}

// tamper changes every installed program.
func (m *machine) tamper() {
	m.Helper()
	programs, err := filepath.Glob(m.path("cache/agent/providers/*/*/*/*/*/*/provider-*"))
	require.NoError(m, err)
	require.NotEmpty(m, programs)
	for _, path := range programs {
		content, err := os.ReadFile(path)
		require.NoError(m, err)
		require.NoError(m, os.Remove(path))
		require.NoError(m, os.WriteFile(path, append(content, "tampered"...), 0o755))
	}
}

// What is in the cache is verified before it runs, and put right by init.
func TestTamperedCache(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.must("init")
	m.tamper()
	r := m.run("invoke", "filesystem.list_directory", "path=.")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "checksum mismatch")
	require.Contains(t, r.stderr, "agent init")
	r = m.must("init")
	require.Contains(t, r.stderr, "the copy in the cache was damaged and is replaced")
	m.must("tools")
}

// With a public key in agent.hcl nothing is installed that it has not signed, and the table says so; a key that comes later
// counts for what is locked already, too.
func TestSigned(t *testing.T) {
	for name, newSigner := range map[string]func(testing.TB) *registrytest.Signer{"minisign": registrytest.Minisign, "ssh": registrytest.SSH} {
		t.Run(name, func(t *testing.T) {
			m, signer, other := newMachine(t), newSigner(t), newSigner(t)
			release := signer.Sign(filesystem(t, "2.0.0"), "provider-filesystem_2.0.0_checksums.txt")
			m.publish(release)
			unsigned := m.read("project/agent.hcl")
			with := func(s *registrytest.Signer) {
				m.write("project/agent.hcl", strings.Replace(unsigned, "version =", fmt.Sprintf("public_key = %q\n    version =", s.Public), 1))
			}
			with(other)
			require.Contains(t, m.fails(1, "init").stderr, "signature")
			with(signer)
			require.Contains(t, m.must("init").stdout, "signed by "+signer.Key.String())
			require.Equal(t, signer.Key.String(), m.locked("filesystem").SignedBy)
			m.net.Forget()
			m.must("init")
			m.must("tools")
			require.Empty(t, m.net.Requests())

			with(other)
			require.Contains(t, m.fails(2, "tools").stderr, "agent.hcl asks for one by "+other.Key.String())
			require.Contains(t, m.fails(1, "init").stderr, "signature")

			// Locked without a key, which is asked for later.
			m.write("project/agent.hcl", unsigned)
			require.NoError(t, os.Remove(m.path(lockFile)))
			m.must("init")
			require.Empty(t, m.locked("filesystem").SignedBy)
			with(signer)
			require.Contains(t, m.fails(2, "tools").stderr, "it was locked without the signature by "+signer.Key.String())
			m.must("init")
			require.Equal(t, signer.Key.String(), m.locked("filesystem").SignedBy)
			m.must("tools")
		})
	}
}

// Installed programs can be executed by whoever may read them, whatever the umask was (K11).
func TestInitUmask(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	agent := m.command("init")
	umasked := exec.Command("sh", "-c", `umask 0777; exec "$0" init`, agent.Path)
	umasked.Dir, umasked.Env = agent.Dir, agent.Env
	r := m.runCommand(umasked)
	require.Equal(t, 0, r.code, r.stderr)
	m.must("tools")
	for _, top := range []string{"cache", "project/.agent", "state"} {
		require.NoError(t, filepath.WalkDir(m.path(top), func(path string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o400), info.Mode()&0o400, path)
			return nil
		}))
	}
}
