package engine

import (
	"strconv"
	"testing"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// BenchmarkOpen is a start of several providers at once, with the parts of the slowest start beside the whole.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(strconv.Itoa(n)+" providers", func(b *testing.B) {
			var specs []ProviderSpec
			for i := range n {
				specs = append(specs, fixture("fixture"+strconv.Itoa(i), hosttest.Good))
			}
			var sum Timings
			for b.Loop() {
				e, err := Open(b.Context(), Options{Providers: specs})
				require.NoError(b, err)
				b.StopTimer()
				var slowest Timings
				for _, p := range e.Providers() {
					if p.Timings.Total() > slowest.Total() {
						slowest = p.Timings
					}
				}
				sum.Exec += slowest.Exec
				sum.Handshake += slowest.Handshake
				sum.Schema += slowest.Schema
				sum.Configure += slowest.Configure
				e.Close()
				b.StartTimer()
			}
			perStart := func(d float64) float64 { return d / 1e6 / float64(b.N) }
			b.ReportMetric(perStart(float64(sum.Exec)), "ms-exec")
			b.ReportMetric(perStart(float64(sum.Handshake)), "ms-handshake")
			b.ReportMetric(perStart(float64(sum.Schema)), "ms-schema")
			b.ReportMetric(perStart(float64(sum.Configure)), "ms-configure")
		})
	}
}

// BenchmarkInvoke is a call from request to outcome: check, gate, schedule, transport and back.
func BenchmarkInvoke(b *testing.B) {
	e, err := Open(b.Context(), Options{Providers: []ProviderSpec{fixture("fixture", hosttest.Good)}})
	require.NoError(b, err)
	defer e.Close()
	session := e.Session(SessionOptions{})
	op, err := session.Lookup("fixture", "echo")
	require.NoError(b, err)
	args, err := structpb.NewStruct(map[string]any{"text": "sixteen bytes ok"})
	require.NoError(b, err)
	request := Request{Operation: op, Arguments: args}
	b.Run("one after another", func(b *testing.B) {
		for b.Loop() {
			require.Equal(b, Completed, session.Invoke(b.Context(), request, nil).Status)
		}
	})
	b.Run("side by side", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if o := session.Invoke(b.Context(), request, nil); o.Status != Completed {
					b.Error(o.Error)
				}
			}
		})
	})
}
