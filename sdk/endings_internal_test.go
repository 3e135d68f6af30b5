package sdk

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

var first = attempt{call: "1"}

func TestEndings(t *testing.T) {
	alive, over := t.Context(), func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}()
	payload := &structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(1)}}
	t.Run("over and well", func(t *testing.T) {
		e := &endings{}
		require.True(t, e.begin(alive, first))
		require.False(t, e.end(alive, ending{attempt: first, session: "session", note: "fine", payload: payload}))
		report, ok, _ := e.ask(first)
		require.True(t, ok)
		require.Equal(t, "fine", report.note)
		require.Equal(t, "session", report.session)
		require.Same(t, payload, report.payload)
		_, ok, _ = e.ask(first)
		require.False(t, ok, "it is reported once")
	})
	t.Run("cancelled in time", func(t *testing.T) {
		e := &endings{}
		e.begin(alive, first)
		require.True(t, e.end(over, ending{attempt: first, session: "session"}))
		_, ok, _ := e.ask(first)
		require.False(t, ok, "it has reported itself")
	})
	t.Run("asked while it runs", func(t *testing.T) {
		e := &endings{}
		e.begin(alive, first)
		_, ok, reported := e.ask(first)
		require.False(t, ok)
		require.True(t, e.end(alive, ending{attempt: first, session: "session"}), "whoever asked waits for it")
		select {
		case <-reported:
			t.Fatal("it is not reported yet")
		default:
		}
		_, ok, again := e.ask(first)
		require.False(t, ok)
		e.leave(first)
		<-reported
		<-again
		_, ok, _ = e.ask(first)
		require.False(t, ok, "it has been reported")
	})
	t.Run("without an end", func(t *testing.T) {
		e := &endings{}
		e.begin(alive, first)
		e.leave(first)
		require.Empty(t, e.running)
		report, ok, _ := e.ask(first)
		require.True(t, ok)
		require.Contains(t, report.note, "what had already happened is not known")
	})
	t.Run("asked before it comes", func(t *testing.T) {
		e := &endings{}
		report, ok, _ := e.ask(first)
		require.True(t, ok)
		require.Equal(t, "cancelled before it reached the provider; nothing was done", report.note)
		require.False(t, e.begin(over, first), "so it must not be done any more")
		require.True(t, e.begin(over, attempt{call: "2"}))
	})
	t.Run("made again under its id", func(t *testing.T) {
		e := &endings{}
		for range 2 {
			require.True(t, e.begin(alive, first))
			require.False(t, e.end(alive, ending{attempt: first, session: "session", note: "fine"}))
			_, ok, _ := e.ask(first)
			require.True(t, ok)
		}
	})
	t.Run("made again, and not told of the attempt before", func(t *testing.T) {
		e := &endings{}
		again := attempt{"1", "2"}
		require.True(t, e.begin(alive, first))
		require.False(t, e.end(alive, ending{attempt: first, note: "fine"}))
		report, ok, _ := e.ask(again)
		require.True(t, ok)
		require.Equal(t, "1", report.attempt.call)
		require.Equal(t, "cancelled before it reached the provider; nothing was done", report.note)
		require.False(t, e.begin(over, again), "so it must not be done any more")
		require.True(t, e.begin(over, attempt{"1", "3"}))
	})
	t.Run("no id", func(t *testing.T) {
		report, ok, _ := (&endings{}).ask(attempt{})
		require.True(t, ok)
		require.Empty(t, report.session)
	})
}

// What is kept is bounded, and what was forgotten is not said to have never come.
func TestEndingsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endings{}
		for i := range rememberedEndings + 1 {
			a := attempt{call: fmt.Sprint(i)}
			e.begin(t.Context(), a)
			e.end(t.Context(), ending{attempt: a, note: "fine", payload: &structpb.Struct{}})
		}
		require.Empty(t, e.running)
		kept := 0
		for _, known := range e.last {
			if known.payload != nil {
				kept++
			}
		}
		require.Equal(t, rememberedPayloads, kept)
		report, ok, _ := e.ask(first)
		require.True(t, ok)
		require.Equal(t, "fine", report.note)
		require.Nil(t, report.payload)
		report, _, _ = e.ask(attempt{call: "0"})
		require.Contains(t, report.note, "what had already happened is not known")
		time.Sleep(askedWithin)
		report, _, _ = e.ask(attempt{call: "another"})
		require.Contains(t, report.note, "nothing was done")
	})
}
