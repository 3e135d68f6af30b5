package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// BenchmarkInit is `agent init` with three providers, all locked and in the cache. hashed-MiB is what it verifies; floor is
// the same program doing nothing, `agent version`.
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
	for name, args := range map[string][]string{"warm": {"init"}, "floor": {"version"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.must(args...)
			}
			if name == "warm" {
				b.ReportMetric(float64(size)/(1<<20), "hashed-MiB")
			}
		})
	}
	require.Empty(b, m.net.Requests())
}
