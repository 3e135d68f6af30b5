package main

import (
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTools is the time from the start of `agent tools` to its answer: when nothing is known of three providers, which
// are then started in parallel, and when all of them are; beside it, the start of agent alone.
func BenchmarkTools(b *testing.B) {
	run := func(cmd *exec.Cmd) {
		_, err := cmd.Output()
		require.NoError(b, err)
	}
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			run(agentIn(b, "bench", "tools", "--json"))
		}
	})
	b.Run("known", func(b *testing.B) {
		first := agentIn(b, "bench", "tools", "--json")
		run(first)
		for b.Loop() {
			again := exec.Command(first.Path, first.Args[1:]...)
			again.Dir, again.Env = first.Dir, first.Env
			run(again)
		}
	})
	b.Run("version", func(b *testing.B) {
		for b.Loop() {
			run(agentIn(b, "bench", "version"))
		}
	})
}

// BenchmarkProviders is `agent providers`, which starts three in parallel, and what the slowest spent on each part of it.
func BenchmarkProviders(b *testing.B) {
	parts := map[string]time.Duration{}
	for b.Loop() {
		out, err := agentIn(b, "bench", "providers", "--json").Output()
		require.NoError(b, err)
		for part, took := range slowest(b, out) {
			parts[part] += took
		}
	}
	for part, took := range parts {
		b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), part+"-ms")
	}
}

// slowest is, for each part of a start, the longest time among the providers.
func slowest(b *testing.B, out []byte) map[string]time.Duration {
	b.Helper()
	var answer struct {
		Providers []struct {
			Timings map[string]string `json:"timings"`
		} `json:"providers"`
	}
	require.NoError(b, json.Unmarshal(out, &answer))
	longest := map[string]time.Duration{}
	for _, p := range answer.Providers {
		require.NotEmpty(b, p.Timings)
		for part, text := range p.Timings {
			took, err := time.ParseDuration(text)
			require.NoError(b, err)
			longest[part] = max(longest[part], took)
		}
	}
	return longest
}
