//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// many runs agent init ten times at once, half of them in one project and the others in projects of their own, and
// requires that each of them succeeds and that there is one good copy.
func (m *machine) many() {
	m.Helper()
	const count = 10
	results := make([]ran, count)
	var wait sync.WaitGroup
	for n := range count {
		cmd := m.command("init")
		if n >= count/2 {
			cmd.Dir = m.path("other" + strconv.Itoa(n))
			require.NoError(m, os.MkdirAll(cmd.Dir, 0o755))
			require.NoError(m, os.WriteFile(filepath.Join(cmd.Dir, "agent.hcl"), []byte(m.read("project/agent.hcl")), 0o644))
		}
		wait.Go(func() { results[n] = m.runCommand(cmd) })
	}
	wait.Wait()
	for _, r := range results {
		require.Equal(m, 0, r.code, r.stdout+r.stderr)
	}
	require.Len(m, m.copies(), 1)
	m.must("invoke", "filesystem.list_directory", "path=.")
}

// copies are the installed copies of provider-filesystem, and whatever is beside them.
func (m *machine) copies() []string {
	m.Helper()
	found, err := filepath.Glob(m.path("cache/agent/providers/github.com/agentco/provider-filesystem/*/*/*"))
	require.NoError(m, err)
	hidden, err := filepath.Glob(m.path("cache/agent/providers/github.com/agentco/provider-filesystem/*/*/.*"))
	require.NoError(m, err)
	return append(found, hidden...)
}

// archives are the requests for an archive, with the part that was asked for.
func (m *machine) archives() (ranges []string) {
	for _, r := range m.net.Requests() {
		if strings.HasPrefix(r.Host, "storage.") && strings.HasSuffix(r.Path, ".tar.gz") {
			ranges = append(ranges, r.Header.Get("Range"))
		}
	}
	return ranges
}

// Ten inits with an empty cache, one download, one copy (K02).
func TestTenInits(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.many()
	require.Equal(t, []string{""}, m.archives())
	// And with a full one.
	before, err := os.Stat(m.copies()[0])
	require.NoError(t, err)
	m.many()
	after, err := os.Stat(m.copies()[0])
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())
	require.Len(t, m.archives(), 1)
}

// One that is killed in the middle of its download leaves what the next one goes on with, and nothing else (K02).
func TestTenInitsAfterAKill(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	const sent = 1 << 20
	m.net.Break("storage.api.github.com", ".tar.gz", 1, registrytest.Stall(sent))
	victim := m.command("init")
	require.NoError(t, victim.Start())
	t.Cleanup(func() { _ = victim.Process.Kill() })
	require.Eventually(t, func() bool {
		parts, _ := filepath.Glob(m.path("cache/agent/downloads/*"))
		if len(parts) != 1 {
			return false
		}
		info, err := os.Stat(parts[0])
		return err == nil && info.Size() == sent
	}, time.Minute, 10*time.Millisecond)
	// Others wait for it, and say so.
	told := m.path("witness")
	stderr, err := os.Create(told)
	require.NoError(t, err)
	defer stderr.Close()
	witness := m.command("init")
	witness.Stderr = stderr
	require.NoError(t, witness.Start())
	t.Cleanup(func() { _ = witness.Process.Kill() })
	require.Eventually(t, func() bool { return strings.Contains(m.read("witness"), "waiting for another agent that installs") }, time.Minute, 10*time.Millisecond)
	require.Empty(t, m.copies())
	require.NoFileExists(t, m.path(lockFile))

	killed := make(chan error)
	go func() {
		defer close(killed)
		killed <- victim.Process.Kill()
	}()
	m.many()
	require.NoError(t, <-killed)
	require.Error(t, victim.Wait())
	require.NoError(t, witness.Wait())
	require.Equal(t, []string{"", "bytes=" + strconv.Itoa(sent) + "-"}, m.archives(), "the rest is fetched, once")
	left, err := filepath.Glob(m.path("cache/agent/downloads/*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Inits are no matter of a provider that runs from the cache (K02).
func TestInitsWhileTheProviderRuns(t *testing.T) {
	m := newMachine(t)
	forge := m.publish(filesystem(t, "2.0.0"))
	forge.Publish("agentco/agent", registrytest.Built("provider-bash", "1.0.0", binary(t, "bash"), here))
	m.write("project/agent.hcl", m.read("project/agent.hcl")+"\n")
	m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "required_providers {", `required_providers {
  bash = { source = "github.com/agentco/agent//provider-bash" }`, 1))
	m.must("init")
	running := m.command("invoke", "bash.bash", "--yes", "command=touch up; while [ ! -e down ]; do sleep 0.05; done; echo survived")
	var out strings.Builder
	running.Stdout = &out
	require.NoError(t, running.Start())
	t.Cleanup(func() { _ = running.Process.Kill() })
	require.Eventually(t, func() bool { _, err := os.Stat(m.path("project/up")); return err == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, os.Remove(m.path(lockFile)))
	m.many()
	m.write("project/down", "")
	require.NoError(t, running.Wait())
	require.Contains(t, out.String(), "survived")
}
