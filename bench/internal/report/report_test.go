package report

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/bench/internal/row"
)

var update = flag.Bool("update", false, "write the golden files anew")

func of(subject, op string, p50 float64) *row.Row {
	return &row.Row{Subject: subject, Op: op, Status: row.OK, N: 10, P50: p50}
}

// some is a run with a bit of everything.
func some() *row.Set {
	part := of(native, "read1m", 1)
	part.Status, part.Note = row.Truncated, "half of it"
	loud := of(chain, "read4k", 1)
	loud.Foreign = 1.5
	wired := of(stdio, "read4k", 1.05)
	wired.WireOut, wired.WireIn = 150, 9000
	failed := &row.Row{Subject: "slow-peer", Op: "read4k", Status: row.Failed, Note: "it | said\nno"}
	idle := &row.Row{Subject: stdio, Op: "idle", Status: row.OK, MB: 60, Parts: map[string]float64{"agent": 20, "provider": 40}}
	peak := *idle
	peak.Op, peak.MB = "peak", 130
	printed := of(native, "print100mb", 1000)
	printed.MBps = 100
	raw := of(inside, "print100mb", 900)
	raw.MBps = 111
	return &row.Set{
		Started: "2026-01-02T03:04:05Z", Machine: "2 cores, Linux", Scale: 0.1,
		About: map[string]string{native: "the engine", stdio: "agent mcp"}, Skipped: map[string]string{"gone": "it is not installed"},
		Rows: []*row.Row{
			of(inside, "read4k", 0.01), of(goPlugin, "read4k", 0.2), of(native, "read4k", 0.3), wired, loud, failed, part, of(goPlugin, "read1m", 3),
			of(native, "glob1k", 1), of(native, "glob10k", 10), of(native, "glob100k", 100), of("rg", "glob100k", 150), of("fd", "glob100k", 120),
			idle, &peak, printed, raw,
		},
	}
}

func TestReport(t *testing.T) {
	var b bytes.Buffer
	Write(&b, some(), map[string]int64{"agent": 28e6})
	const golden = "testdata/report.md"
	if *update {
		require.NoError(t, os.WriteFile(golden, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func TestVerdict(t *testing.T) {
	s := some()
	for _, test := range []struct {
		name          string
		target        Target
		measured, met bool
	}{
		{"met", Target{Ours: median(native, "glob100k"), Against: least(median("rg", "glob100k"), median("fd", "glob100k")), AtMost: 1}, true, true},
		{"not met", Target{Ours: median(native, "read4k"), Against: median(goPlugin, "read4k"), AtMost: 1.3}, true, false},
		{"more is better", Target{Ours: throughput(native, "print100mb"), Against: throughput(inside, "print100mb"), AtLeast: 0.8}, true, true},
		{"less is not enough", Target{Ours: throughput(native, "print100mb"), Against: throughput(inside, "print100mb"), AtLeast: 0.95}, true, false},
		{"the other was not measured", Target{Ours: median(native, "read4k"), Against: median("none", "read4k"), AtMost: 1}, false, false},
		{"a part of the answer is none", Target{Ours: median(native, "read1m"), Against: median(goPlugin, "read1m"), AtMost: 1.2}, false, false},
		{"no peer answered", Target{Ours: median(stdio, "read4k"), Against: best("read4k"), AtMost: 1}, false, false},
		{"a floor is no peer", Target{Ours: median(native, "glob100k"), Against: best("glob100k"), AtMost: 0.9}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.target.Judge(s)
			require.Equal(t, test.measured, v.Measured())
			require.Equal(t, test.met, v.Measured() && v.Met())
		})
	}
}
