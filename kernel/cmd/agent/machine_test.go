package main

import (
	"bytes"
	cryptorand "crypto/rand"
	"encoding/base64"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// machine is a computer of its own: a home, and a small internet that it is connected to.
type machine struct {
	testing.TB
	net  *registrytest.Net
	home string
	env  []string
	// agent is the binary; empty for the one of this build.
	agent string
}

// here is the platform that the tests run on, elsewhere one that they do not.
var here, elsewhere = registry.Here().String(), "plan9_386"

func newMachine(t testing.TB) *machine {
	t.Helper()
	m := &machine{TB: t, net: registrytest.New(t), home: t.TempDir()}
	m.env = append(os.Environ(), "HOME="+m.home, "GITHUB_TOKEN=", "NO_COLOR=1", "TERM=dumb")
	for variable, dir := range map[string]string{"CONFIG": "config", "CACHE": "cache", "STATE": "state", "DATA": "data"} {
		m.env = append(m.env, "XDG_"+variable+"_HOME="+filepath.Join(m.home, dir))
	}
	m.env = append(m.env, m.net.Env()...)
	m.write("project/agent.hcl", `required_providers {
  filesystem = {
    source  = "github.com/agentco/provider-filesystem"
    version = "~> 2.0.0"
  }
}

provider "filesystem" {
  allowed_roots = ["${path.root}"]
}
`)
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.home, filepath.FromSlash(name)) }

func (m *machine) write(name, text string) {
	m.Helper()
	require.NoError(m, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	require.NoError(m, os.WriteFile(m.path(name), []byte(text), 0o644))
}

func (m *machine) read(name string) string {
	m.Helper()
	text, err := os.ReadFile(m.path(name))
	require.NoError(m, err)
	return string(text)
}

const lockFile = "project/.agent/agent.lock.hcl"

// command is agent in the project.
func (m *machine) command(args ...string) *exec.Cmd {
	m.Helper()
	agent := m.agent
	if agent == "" {
		var err error
		agent, err = exec.LookPath("agent")
		require.NoError(m, err)
	}
	cmd := exec.Command(agent, args...)
	cmd.Dir, cmd.Env = m.path("project"), m.env
	return cmd
}

// ran is how a command ended.
type ran struct {
	code           int
	stdout, stderr string
}

func (m *machine) run(args ...string) ran {
	m.Helper()
	return m.runCommand(m.command(args...))
}

func (m *machine) runCommand(cmd *exec.Cmd) ran {
	m.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(m, err)
	}
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (m *machine) must(args ...string) ran {
	m.Helper()
	r := m.run(args...)
	require.Equal(m, 0, r.code, "agent %v: %s%s", args, r.stdout, r.stderr)
	return r
}

// fails runs a command that must change neither the lock file nor the cache.
func (m *machine) fails(code int, args ...string) ran {
	m.Helper()
	before := m.snapshot()
	r := m.run(args...)
	require.Equal(m, code, r.code, "agent %v: %s%s", args, r.stdout, r.stderr)
	require.Equal(m, before, m.snapshot())
	return r
}

// snapshot is what a failure may not change.
func (m *machine) snapshot() map[string]string {
	m.Helper()
	found := map[string]string{}
	for _, top := range []string{"project", "cache"} {
		require.NoError(m, filepath.WalkDir(m.path(top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil || d.IsDir():
				return err
			case filepath.Base(filepath.Dir(path)) == "locks" || strings.Contains(filepath.ToSlash(path), "/agent/schemas/"): // what is remembered stays
				return nil
			}
			content, err := os.ReadFile(path)
			found[path] = string(content)
			return err
		}))
	}
	return found
}

// locked is the lock file as agent reads it.
func (m *machine) locked(name string) lock.Provider {
	m.Helper()
	file, err := lock.Read(m.path(lockFile), "lock")
	require.NoError(m, err)
	p, ok := file.Provider(name)
	require.True(m, ok, "%s is not locked", name)
	return p
}

// binary is a real provider.
func binary(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(binaries, "provider-"+name))
	require.NoError(t, err)
	return content
}

// variant is a binary that is another one and still runs: what stands behind an executable is not looked at.
func variant(binary []byte, v string) []byte { return append(bytes.Clone(binary), "\n"+v...) }

// filesystem is a release of provider-filesystem.
func filesystem(t testing.TB, v string, platforms ...string) registrytest.Release {
	t.Helper()
	if len(platforms) == 0 {
		platforms = []string{here, elsewhere}
	}
	key := v + " " + strings.Join(platforms, " ")
	if made, ok := releases.Load(key); ok {
		return made.(registrytest.Release)
	}
	made := registrytest.Built("provider-filesystem", v, variant(binary(t, "filesystem"), v), platforms...)
	releases.Store(key, made)
	return made
}

// script is a release of provider-filesystem that is quick to install, and never started.
func script(v string) registrytest.Release {
	noise := make([]byte, 1<<20)
	_, _ = cryptorand.Read(noise)
	return registrytest.Built("provider-filesystem", v, []byte("#!/bin/sh\n# "+base64.StdEncoding.EncodeToString(noise)+"\n"), here, elsewhere)
}

// releases are those of filesystem: to pack a real binary takes a second.
var releases sync.Map

// publish puts releases of provider-filesystem on GitHub.
func (m *machine) publish(releases ...registrytest.Release) *registrytest.Forge {
	m.Helper()
	forge := m.net.GitHub("github.com")
	forge.Publish("agentco/provider-filesystem", releases...)
	return forge
}
