package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// two is a machine with a project of two providers, whose downloads stop in the middle; the first time only.
func two(t *testing.T) *machine {
	m := newMachine(t)
	forge := m.publish(filesystem(t, "2.0.0"))
	forge.Publish("agentco/agent", registrytest.Built("provider-bash", "1.0.0", binary(t, "bash"), here))
	m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "required_providers {", `required_providers {
  bash = { source = "github.com/agentco/agent//provider-bash" }`, 1))
	m.net.Break("storage.api.github.com", ".tar.gz", 2, registrytest.Stall(4<<20))
	return m
}

// terminal plays agent init at a terminal.
func (m *machine) terminal(t *testing.T) *onTerminal {
	t.Helper()
	command := "exec env"
	for _, v := range m.env[len(os.Environ()):] { // what this machine adds
		command += " '" + v + "'"
	}
	return startOnTerminal(t, m.path("project"), command+" TERM=xterm agent init")
}

// A person sees a bar for each download; Ctrl-C ends them, changes nothing, and the next init goes on where they were.
func TestInitAtATerminal(t *testing.T) {
	m := two(t)
	p := m.terminal(t)
	p.waitForMatch(t, `bash ━+╌+ +\d+%  filesystem ━+╌+ +\d+%|filesystem ━+╌+ +\d+%  bash ━+╌+ +\d+%`)
	p.write(t, "\x03")
	require.Equal(t, 130, p.exitCode(t), p.screen())
	require.Contains(t, p.screen(), "cancelled: nothing was changed")
	require.NoFileExists(t, m.path(lockFile))
	parts, err := filepath.Glob(m.path("cache/agent/downloads/*"))
	require.NoError(t, err)
	require.Len(t, parts, 2)

	p = m.terminal(t)
	require.Equal(t, 0, p.exitCode(t), p.screen())
	for _, r := range m.archives()[2:] {
		require.Equal(t, "bytes=", r[:6], "the rest alone is fetched")
	}
	require.NotContains(t, p.screen(), "· downloading", "bars, not lines of a log")
	_, err = os.Stat(m.path(lockFile))
	require.NoError(t, err)
}
