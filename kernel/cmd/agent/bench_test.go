package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTools is the time from the start of `agent tools` to its answer, with three providers started in parallel, and
// what the slowest provider spent on each part of its start.
func BenchmarkTools(b *testing.B) {
	parts := map[string]time.Duration{}
	for b.Loop() {
		cmd := agentIn(b, "bench", "tools", "--json")
		_, err := cmd.Output()
		require.NoError(b, err)
	}
	b.StopTimer()
	// The parts are told by another command, which starts the providers the same way.
	const rounds = 10
	for range rounds {
		out, err := agentIn(b, "bench", "providers", "--json").Output()
		require.NoError(b, err)
		for part, took := range slowest(b, out) {
			parts[part] += took
		}
	}
	for part, took := range parts {
		b.ReportMetric(float64(took.Microseconds())/1000/rounds, part+"-ms")
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
