package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agentco/agent/kernel/internal/install"
)

// Whenever agent init is killed, the next one succeeds, and leaves one good copy and nothing half done (K02). With
// AGENT_LONG it is killed 250 times.
func TestInitKilledAtRandom(t *testing.T) {
	kills := 25
	if long {
		kills = 250
	}
	m := newMachine(t)
	m.publish(script("2.0.0"), script("2.0.1"))
	began := time.Now()
	m.must("init")
	takes := time.Since(began)
	for n := range kills {
		switch n % 3 {
		case 0: // everything anew
			require.NoError(t, os.RemoveAll(m.path("cache/agent/providers")))
			require.NoError(t, os.RemoveAll(m.path("project/.agent")))
		case 1: // a lock file, and a damaged copy
			m.tamper()
		case 2: // an upgrade
			m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "~> 2.0.0", "= 2.0.0", 1))
			m.must("init")
			m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "= 2.0.0", "~> 2.0.0", 1))
			m.prune("2.0.1")
		}
		victim := m.command("init", "--upgrade")
		require.NoError(t, victim.Start())
		time.Sleep(rand.N(takes)) //nolint:forbidigo // a moment that nobody chose is what is tested
		_ = victim.Process.Kill()
		_ = victim.Wait()
		m.must("init", "--upgrade")
		require.Equal(t, "2.0.1", m.locked("filesystem").Version)
		require.Empty(t, m.halfDone(), "after kill %d", n)
	}
}

// Of ten inits at once some are killed; the others succeed, in one project or in several (K02).
func TestTenInitsWithKills(t *testing.T) {
	rounds := 3
	if long {
		rounds = 40
	}
	const count = 10
	m := newMachine(t)
	m.publish(script("2.0.0"))
	for n := range count {
		m.write(fmt.Sprintf("other%d/agent.hcl", n), m.read("project/agent.hcl"))
	}
	for range rounds {
		require.NoError(t, os.RemoveAll(m.path("cache/agent/providers")))
		require.NoError(t, os.RemoveAll(m.path("project/.agent")))
		results := make([]ran, count)
		var wait sync.WaitGroup
		for n := range count {
			cmd := m.command("init")
			if n%2 == 0 {
				cmd.Dir = m.path(fmt.Sprintf("other%d", n))
				require.NoError(t, os.RemoveAll(filepath.Join(cmd.Dir, ".agent")))
			}
			if n%3 == 0 {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(500*time.Millisecond))
				defer cancel()
				victim := exec.CommandContext(ctx, cmd.Path, "init")
				victim.Dir, victim.Env = cmd.Dir, cmd.Env
				wait.Go(func() { _ = victim.Run() })
				continue
			}
			wait.Go(func() { results[n] = m.runCommand(cmd) })
		}
		wait.Wait()
		for _, r := range results {
			require.Zero(t, r.code, r.stdout+r.stderr)
		}
		m.must("init", "--lockfile=readonly")
		require.Len(t, m.copies(), 1)
		left, err := filepath.Glob(m.path("project/.agent/*"))
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
}

// prune removes one version from the cache.
func (m *machine) prune(v string) {
	m.Helper()
	require.NoError(m, os.RemoveAll(m.path("cache/agent/providers/github.com/agentco/provider-filesystem/"+v)))
}

// halfDone is what should be gone once an init has succeeded.
func (m *machine) halfDone() (found []string) {
	m.Helper()
	for _, top := range []string{"project", "cache/agent/providers", "cache/agent/downloads", "state"} {
		require.NoError(m, filepath.WalkDir(m.path(top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case strings.HasPrefix(d.Name(), ".") && d.Name() != ".agent", !d.IsDir() && strings.Contains(path, "/downloads/"):
				found = append(found, path)
			}
			return nil
		}))
	}
	return found
}

// Nothing that an init is about to lock is pruned, and neither fails since the other runs.
func TestPruneRacesInit(t *testing.T) {
	m := newMachine(t)
	m.publish(script("2.0.0"))
	rounds := 5
	if long {
		rounds = 50
	}
	for range rounds {
		require.NoError(t, os.RemoveAll(m.path("cache/agent/providers")))
		require.NoError(t, os.RemoveAll(m.path("project/.agent")))
		results := make([]ran, 6)
		var wait sync.WaitGroup
		for n := range results {
			cmd := m.command([]string{"init", "providers"}[n%2], []string{"", "prune"}[n%2])
			if n%2 == 0 {
				cmd.Args = cmd.Args[:2]
			}
			wait.Go(func() { results[n] = m.runCommand(cmd) })
		}
		wait.Wait()
		for _, r := range results {
			require.Zero(t, r.code, r.stdout+r.stderr)
		}
		require.Contains(t, m.must("init", "--lockfile=readonly").stdout, "cache")
		require.Empty(t, m.halfDone())
	}
}

// What a prune takes away that did not know of this project is not said to be installed.
func TestInitWaitsForPrune(t *testing.T) {
	m := newMachine(t)
	m.publish(script("2.0.0"))
	m.must("init")
	cmd := m.command("init")
	result := make(chan ran, 1)
	cache := install.Cache{Dir: m.path("cache/agent")}
	removed, err := cache.Prune(t.Context(), false, nil, func() (func(install.Key) bool, error) {
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		waits := opened(t, m.path("cache/agent/locks/use"))
		require.NoError(t, cmd.Start())
		go func() {
			_ = cmd.Wait()
			result <- ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
		}()
		select {
		case <-waits:
		case r := <-result:
			result <- r
		}
		return func(install.Key) bool { return false }, nil
	})
	require.NoError(t, err)
	require.Len(t, removed, 1)
	r := <-result
	require.Zero(t, r.code, r.stderr)
	require.Contains(t, r.stdout, "github.com", "it is installed again")
	require.Len(t, m.copies(), 1)
}

// opened tells when somebody opens a file from now on. Who waits for a lock opens its file again and again, too shortly to be
// found at it.
func opened(t *testing.T, path string) <-chan struct{} {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	events := os.NewFile(uintptr(fd), "inotify")
	t.Cleanup(func() { _ = events.Close() })
	_, err = unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
	require.NoError(t, err)
	happened := make(chan struct{})
	go func() {
		defer close(happened)
		_, _ = events.Read(make([]byte, 4096))
	}()
	return happened
}
