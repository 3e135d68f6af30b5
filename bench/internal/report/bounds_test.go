package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/bench/internal/row"
)

// using is a row with a mean, and what a call uses of the processors.
func using(subject, op string, p50, mean, cpu float64) *row.Row {
	r := of(subject, op, p50)
	r.Mean, r.CPU = mean, cpu
	return r
}

// boundIn is the bound of a target in a run of these rows; the target is missed in all of them.
func boundIn(t *testing.T, work string, rows ...*row.Row) row.Bound {
	t.Helper()
	for _, b := range Bounds(&row.Set{Cores: 2, Rows: rows}) {
		if b.Work == work {
			return b
		}
	}
	require.Fail(t, "it has no bound")
	return row.Bound{}
}

func TestBoundIsTheSumOfItsParts(t *testing.T) {
	rows := []*row.Row{
		of(native, "read4k", 0.3), of(goPlugin, "read4k", 0.1), of(streamed, "read4k", 0.12), of(logAlone, "read4k", 0.01),
		of(jailed, "read4k", 0.03), of(inside, "read4k", 0.01),
	}
	b := boundIn(t, "read 4 KiB, native", rows...)
	require.Equal(t, "bare go-plugin, over a stream 0.120; the jail 0.020; the log 0.010", listed(b.Parts))
	require.InDelta(t, 0.15, b.Floor, 1e-9)
	require.InDelta(t, 2, b.Above, 1e-9)
	require.InDelta(t, 3, b.Ratio, 1e-9)
	require.InDelta(t, 1.5, b.FloorRatio, 1e-9)
	require.Equal(t, "≤ 1.3", b.Wanted)

	rows[4].P50 = 0.005 // by chance a jail was quicker than none
	require.Zero(t, boundIn(t, "read 4 KiB, native", rows...).Parts[1].MS)
}

func TestPartThatWasNotMeasured(t *testing.T) {
	for _, failed := range []*row.Row{nil, {Subject: streamed, Op: "read4k", Status: row.Failed}, {Subject: streamed, Op: "read4k", Status: row.Truncated, P50: 1}} {
		rows := []*row.Row{of(native, "read4k", 0.3), of(goPlugin, "read4k", 0.1), of(logAlone, "read4k", 0.01), of(jailed, "read4k", 0.03), of(inside, "read4k", 0.01)}
		if failed != nil {
			rows = append(rows, failed)
		}
		b := boundIn(t, "read 4 KiB, native", rows...)
		require.Equal(t, []string{"bare go-plugin, over a stream"}, b.Missing)
		require.Zero(t, b.Floor)
		require.Zero(t, b.Above)
		require.InDelta(t, 0.3, b.Ours, 1e-9)
	}
}

// Of calls at once the processors are the bound: eight calls on two cores, without what this driver takes for each.
func TestBoundOfCallsAtOnce(t *testing.T) {
	rows := []*row.Row{
		using(stdio, "read4k_c8", 3, 4, 0.9), of(chain, "read4k_c8", 2), using(clientSame, "read4k_c8", 1, 1, 0.4),
		using(streamed, "read4k_c8", 0.3, 0.3, 0.12), using(inside, "read4k_c8", 0.01, 0.01, 0.03), using(logAlone, "read4k_c8", 0.01, 0.1, 0.05),
		of(inside, "read4k", 0.01), of(jailed, "read4k", 0.02),
	}
	b := boundIn(t, "read 4 KiB, 8 at once, MCP", rows...)
	require.True(t, b.Mean)
	require.InDelta(t, 4, b.Ours, 1e-9, "the mean")
	require.InDelta(t, 4*(0.4+(0.12-0.02)+0.01+0.05), b.Floor, 1e-9)
	require.InDelta(t, 1.5, b.Ratio, 1e-9, "the ratio is that of the target, of medians")
	require.Equal(t, row.Part{Named: "the cores, by what ours uses", MS: 3.6}, b.Beside[0])
}

// The higher one of several holds, and one of which something is missing is none.
func TestHighestBoundHolds(t *testing.T) {
	rows := []*row.Row{
		using(native, "read1m", 5, 6, 0), of(goPlugin, "read1m", 1), of(streamed, "read1m", 1.5), of(jailed, "read1m", 0.2), of(inside, "read1m", 0.1),
		using(logAlone, "read1m", 0.2, 4, 0),
	}
	b := boundIn(t, "read 1 MiB, native", rows...)
	require.Equal(t, []row.Part{{Named: "the log, until its database has it", MS: 4}}, b.Parts)
	require.InDelta(t, 6.0/4, b.Above, 1e-9, "a mean is held to a mean")
	rows[5].Mean = 1
	b = boundIn(t, "read 1 MiB, native", rows...)
	require.InDelta(t, 1.8, b.Floor, 1e-9)
	require.InDelta(t, 5/1.8, b.Above, 1e-9)
	rows[2].Status = row.Failed
	b = boundIn(t, "read 1 MiB, native", rows...)
	require.InDelta(t, 1, b.Floor, 1e-9)
}

func TestBoundsAreOfWhatIsNotMet(t *testing.T) {
	require.Empty(t, Bounds(&row.Set{Rows: []*row.Row{of(native, "read4k", 0.1), of(goPlugin, "read4k", 0.1)}}), "it is met")
	require.Empty(t, Bounds(&row.Set{Rows: []*row.Row{of(native, "read4k", 0.1)}}), "it was not measured")
	slow, raw := of(native, "print100mb", 1000), of(inside, "print100mb", 100)
	slow.MBps, raw.MBps = 100, 1000
	require.Equal(t, []row.Bound{{Work: "print 100 MB, native", Ours: 100, Ratio: 0.1, Wanted: "≥ 0.8"}}, Bounds(&row.Set{Rows: []*row.Row{slow, raw}}))
	var b bytes.Buffer
	bounds(&b, &row.Set{})
	require.Empty(t, b.String())
	_, err := json.Marshal(Bounds(some()))
	require.NoError(t, err)
}

// Whoever takes the place of a peer in a target must be one.
func TestFloorsAreNoPeers(t *testing.T) {
	for _, name := range []string{clientFloor, clientSame, chain, chainSame, bareMCP, linked, inside, jailed, goPlugin, streamed, logAlone} {
		require.False(t, peer(name), name)
	}
	require.True(t, peer("served"))
}
