package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// within is run with an end.
func (m *machine) within(limit time.Duration, args ...string) ran {
	m.Helper()
	cmd := m.command(args...)
	ctx, cancel := context.WithTimeout(m.Context(), limit)
	defer cancel()
	timed := exec.CommandContext(ctx, cmd.Path, args...)
	timed.Dir, timed.Env = cmd.Dir, cmd.Env
	r := m.runCommand(timed)
	require.NoError(m, ctx.Err(), "agent %v hangs: %s", args, r.stderr)
	return r
}

// Whoever opens a named pipe waits for its writer, and a folder cannot be read: neither may be taken for a file.
func TestStrangeThingsWhereFilesShouldBe(t *testing.T) {
	const provider = "github.com/agentco/provider-filesystem"
	tests := []struct {
		name, path string
		code       int
		want       string
	}{
		{"lock file", lockFile, 1, "agent.lock.hcl is not a regular file"},
		{"program", "cache/agent/providers/" + provider + "/*/*/*/provider-filesystem", 0, "damaged and is replaced"},
		{"archive", "cache/agent/providers/" + provider + "/*/*/*/archive~", 0, ""},
		{"folder of the provider", "cache/agent/providers/" + provider + "/*/*/*", 0, "damaged and is replaced"},
		{"what is remembered", "cache/agent/schemas", 0, ""},
		{"list of projects", "state/agent/projects/*", 0, ""},
		{"lock of the cache", "cache/agent/locks/use", 0, ""},
		{"locks of the cache", "cache/agent/locks", 0, ""},
		{"index of the mirror", "mirror/" + provider + "/index.json", 0, ""},
		{"archive in the mirror", "mirror/" + provider + "/2.0.0/*.tar.gz", 0, ""},
	}
	for kind, make := range map[string]func(string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		for _, tt := range tests {
			if kind == "folder" && strings.Contains("folder of the provider, what is remembered, locks of the cache", tt.name) {
				continue // it is one as it should be
			}
			t.Run(tt.name+" is a "+kind, func(t *testing.T) {
				m := newMachine(t)
				m.publish(script("2.0.0"))
				m.must("init")
				m.must("providers", "mirror", m.path("mirror"))
				m.write("config/agent/config.hcl", fmt.Sprintf("registry_mirror {\n  default = %q\n}\n", m.path("mirror")))
				found, err := filepath.Glob(m.path(tt.path))
				require.NoError(t, err)
				if tt.name != "what is remembered" {
					require.Len(t, found, 1)
				} else {
					found = []string{m.path(tt.path)}
				}
				require.NoError(t, os.RemoveAll(found[0]))
				require.NoError(t, make(found[0]))
				r := m.within(time.Minute, "init")
				require.Equal(t, tt.code, r.code, r.stderr)
				require.Contains(t, r.stderr, tt.want)
				if strings.HasPrefix(tt.path, "mirror") {
					require.NoError(t, os.RemoveAll(m.path("cache")))
					r = m.within(time.Minute, "init")
					require.Equal(t, 1, r.code)
					require.Contains(t, r.stderr, "not a regular file")
				}
				for _, args := range [][]string{{"tools"}, {"providers"}, {"providers", "prune", "--dry-run"}, {"providers", "mirror", m.path("mirror")}, {"providers", "lock"}, {"init", "--lockfile=readonly"}} {
					m.within(time.Minute, args...)
				}
			})
		}
	}
}

// Two sources may release the same archive: each is installed for itself, at the same time or not.
func TestSameArchiveFromTwoSources(t *testing.T) {
	m := newMachine(t)
	forge := m.net.GitHub("github.com")
	release := script("2.0.0")
	for _, repo := range []string{"agentco/agent", "agentco/provider-filesystem", "fork/provider-filesystem"} {
		forge.Publish(repo, release)
	}
	m.net.Break("storage.api.github.com", ".tar.gz", -1, registrytest.Slowly(100*time.Millisecond))
	m.write("project/agent.hcl", `required_providers {
  together = { source = "github.com/agentco/agent//provider-filesystem" }
  alone    = { source = "github.com/agentco/provider-filesystem" }
  again    = { source = "github.com/agentco/provider-filesystem" }
  fork     = { source = "github.com/fork/provider-filesystem" }
}
`)
	m.must("init")
	found, err := filepath.Glob(m.path("cache/agent/providers/github.com/*/*/2.0.0/*/*/provider-filesystem"))
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Empty(t, m.halfDone())
}

// Whatever names a release gives to its files, the lock file that comes of it can be read again.
func TestPlatformsThatAreNoNames(t *testing.T) {
	m := newMachine(t)
	m.publish(registrytest.Built("provider-filesystem", "2.0.0", []byte("#!/bin/sh\n"), here, "386_linux", "9_9", "for_in", "null_null", "true_amd64", "if_arm"))
	m.must("init")
	m.must("init")
	m.must("init", "--lockfile=readonly")
}
