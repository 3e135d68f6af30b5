package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// BenchmarkInit is `agent init` with three providers, all locked and in the cache. After an install it reads all of them
// once more (first), until their last change is so long ago that the system tells every further one; from then on it
// asks the system (warm). MiB is how large they are; floor is the same program doing nothing, `agent version`.
func BenchmarkInit(b *testing.B) {
	m := newMachine(b)
	forge := m.publish(filesystem(b, "2.0.0"))
	for _, name := range []string{"bash", "release-tools"} {
		forge.Publish("agentco/provider-"+name, registrytest.Built("provider-"+name, "1.0.0", binary(b, name), here))
	}
	m.write("project/agent.hcl", `required_providers {
  filesystem    = { source = "github.com/agentco/provider-filesystem" }
  bash          = { source = "github.com/agentco/provider-bash" }
  release-tools = { source = "github.com/agentco/provider-release-tools" }
}
`)
	m.must("init")
	programs, err := filepath.Glob(m.path("cache/agent/providers/*/*/*/*/*/*/provider-*"))
	require.NoError(b, err)
	require.Len(b, programs, 3)
	var size int64
	for _, path := range programs {
		info, err := os.Stat(path)
		require.NoError(b, err)
		size += info.Size()
	}
	m.net.Forget()
	measure := func(name string, args ...string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if name == "first" {
					require.NoError(b, os.RemoveAll(m.path("cache/agent/schemas")))
				}
				m.must(args...)
			}
			b.ReportMetric(float64(size)/(1<<20), "MiB")
		})
	}
	measure("floor", "version")
	measure("first", "init")
	m.remembered(3)
	measure("warm", "init")
	require.Empty(b, m.net.Requests())
}

// remembered runs agent init until it need not read any of so many programs.
func (m *machine) remembered(count int) {
	m.Helper()
	require.Eventually(m, func() bool {
		m.must("init")
		known, err := filepath.Glob(m.path("cache/agent/schemas/v1/files/*"))
		return err == nil && len(known) == count
	}, time.Minute, 100*time.Millisecond)
}
