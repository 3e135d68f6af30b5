package sdk

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// reading is a kernel that takes what comes, as fast as it is let.
type reading struct {
	got  []string
	slow chan struct{} // nil: at once
}

func (r *reading) events(ctx context.Context) *events {
	return &events{ctx: ctx, streaming: true, send: func(e *toolv1.ToolEvent) error {
		if r.slow != nil {
			<-r.slow
		}
		if p := e.GetProgress(); p != nil {
			r.got = append(r.got, p.GetMessage())
		}
		return nil
	}}
}

func TestStepsCoalesceByTimeAndTheNewestWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reading{}
		e := r.events(t.Context())
		for i := range 1000 { // a second's work
			e.progress(i+1, 1000)
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, e.end(&toolv1.ToolEvent{}))
		synctest.Wait()
		require.Len(t, r.got, 11)
		require.Equal(t, "1 of 1000", r.got[0])
		require.Equal(t, "1000 of 1000", r.got[10])
	})
}

func TestAKernelThatDoesNotReadHoldsUpNoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reading{slow: make(chan struct{})}
		e := r.events(t.Context())
		e.progress(1, 0)
		synctest.Wait() // the sender hangs in its first event, holding the stream
		began := time.Now()
		for i := range 1000 {
			e.progress(2+i, 0)
		}
		require.Zero(t, time.Since(began))
		close(r.slow)
		require.NoError(t, e.end(&toolv1.ToolEvent{}))
		synctest.Wait()
		require.Equal(t, []string{"1", "1001"}, r.got)
	})
}

func TestAStatusDoesNotOvertakeTheStepBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reading{}
		e := r.events(t.Context())
		e.progress(1, 2)
		e.status("half")
		e.progress(2, 2)
		e.status("whole")
		e.close()
		e.progress(3, 2)
		synctest.Wait()
		require.Equal(t, []string{"1 of 2", "half", "2 of 2", "whole"}, r.got)
	})
}

func BenchmarkProgress(b *testing.B) {
	r := &reading{}
	e := r.events(b.Context())
	defer e.close()
	b.ReportAllocs()
	for b.Loop() {
		e.progress(1, 0)
	}
}
