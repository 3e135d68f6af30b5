package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
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
	served, whole := of("served", "read1m", 40), of(stdio, "read1m", 50)
	served.WireIn, whole.WireIn = 1188156, 1100000
	lined := of(native, "line64m", 3)
	lined.GrewMB = 1.5
	wired.CPU = 0.75
	listed, names := of(stdio, "list10k", 90), of("served", "list10k", 20)
	listed.Note, names.Note = "seven fields", "type and name"
	printed := of(native, "print100mb", 1000)
	printed.MBps = 100
	raw := of(inside, "print100mb", 900)
	raw.MBps = 111
	return &row.Set{
		Started: "2026-01-02T03:04:05Z", Machine: "2 cores, Linux", Cores: 2, Scale: 0.1,
		About: map[string]string{native: "the engine", stdio: "agent mcp"}, Skipped: map[string]string{"gone": "it is not installed"},
		Kinds: map[string]string{"slow-peer": "mcp", "served": "mcp", "spoken": "rpc"}, Binaries: map[string]int64{"agent": 28e6}, Interrupted: true,
		Rows: []*row.Row{
			of(inside, "read4k", 0.01), of(goPlugin, "read4k", 0.2), of(native, "read4k", 0.3), wired, loud, failed, part, of(goPlugin, "read1m", 3),
			of(native, "glob1k", 1), of(native, "glob10k", 10), of(native, "glob100k", 100), of("rg", "glob100k", 150), of("fd", "glob100k", 120),
			idle, &peak, printed, raw, served, of("spoken", "read1m", 1), whole, of(clientFloor, "read1m", 30), lined, listed, of(inside, "count64m", 2), names,
			of(jailed, "read4k", 0.015), of(streamed, "read4k", 0.21), of(logAlone, "read4k", 0.02), // a whole floor
			of(clientSame, "read1m", 42), of(chainSame, "read1m", 40), of(streamed, "read1m", 4), of(logAlone, "list10k", 0.5), // and some of others
		},
	}
}

func TestReport(t *testing.T) {
	var b bytes.Buffer
	Write(&b, some())
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
		{"servers of MCP among themselves", Target{Ours: median(stdio, "read1m"), Against: bestMCP("read1m"), AtMost: 1.25}, true, true},
		{"who speaks something else is quicker", Target{Ours: median(stdio, "read1m"), Against: best("read1m"), AtMost: 1.25}, true, false},
		{"memory that grew less", Target{Ours: growthOf(native, "line64m"), Against: fixed(32), AtMost: 1}, true, true},
		{"memory that was not measured", Target{Ours: growthOf("none", "line64m"), Against: fixed(32), AtMost: 1}, false, false},
		{"a floor is no peer", Target{Ours: median(native, "glob100k"), Against: best("glob100k"), AtMost: 0.9}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.target.Judge(s)
			require.Equal(t, test.measured, v.Measured())
			require.Equal(t, test.met, v.Measured() && v.Met())
		})
	}
}

func TestRefresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, Refresh(path, some()))
	fresh, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(fresh), Marker+"\n\n2026-01-02"))
	require.Contains(t, string(fresh), "\n### Targets\n")
	require.NotContains(t, string(fresh), "\n## ")

	above := "# Results\n\n## By hand\n\n"
	require.NoError(t, os.WriteFile(path, []byte(above+Marker+"\n\nold\n"), 0o644))
	require.NoError(t, Marked(path))
	require.NoError(t, Refresh(path, some()))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, above+string(fresh), string(again))

	require.NoError(t, os.WriteFile(path, []byte(above), 0o644))
	require.ErrorContains(t, Marked(path), "has no line")
	require.ErrorContains(t, Refresh(path, some()), "has no line")
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, above, string(kept), "nothing is lost")
}
