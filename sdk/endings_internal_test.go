package sdk

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func callNamed(id string) *toolv1.ToolCall {
	return &toolv1.ToolCall{Id: id, CallContext: &commonv1.CallContext{SessionId: "session"}}
}

func TestEndings(t *testing.T) {
	alive, over := t.Context(), func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}()
	payload := &structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(1)}}
	t.Run("over and well", func(t *testing.T) {
		e := &endings{}
		require.True(t, e.begin(alive, "1"))
		require.False(t, e.end(alive, callNamed("1"), "fine", payload))
		report, ok := e.ask("1")
		require.True(t, ok)
		require.Equal(t, "fine", report.note)
		require.Equal(t, "session", report.session)
		require.Same(t, payload, report.payload)
		_, ok = e.ask("1")
		require.False(t, ok, "it is reported once")
	})
	t.Run("cancelled in time", func(t *testing.T) {
		e := &endings{}
		e.begin(alive, "1")
		require.True(t, e.end(over, callNamed("1"), "", nil))
		_, ok := e.ask("1")
		require.False(t, ok, "it has reported itself")
	})
	t.Run("asked while it runs", func(t *testing.T) {
		e := &endings{}
		e.begin(alive, "1")
		_, ok := e.ask("1")
		require.False(t, ok)
		require.True(t, e.end(alive, callNamed("1"), "", nil), "whoever asked waits for it")
	})
	t.Run("asked before it comes", func(t *testing.T) {
		e := &endings{}
		report, ok := e.ask("1")
		require.True(t, ok)
		require.Equal(t, "cancelled before it reached the provider; nothing was done", report.note)
		require.False(t, e.begin(over, "1"), "so it must not be done any more")
		require.True(t, e.begin(over, "2"))
	})
	t.Run("made again under its id", func(t *testing.T) {
		e := &endings{}
		for range 2 {
			require.True(t, e.begin(alive, "1"))
			require.False(t, e.end(alive, callNamed("1"), "fine", nil))
			_, ok := e.ask("1")
			require.True(t, ok)
		}
	})
	t.Run("no id", func(t *testing.T) {
		report, ok := (&endings{}).ask("")
		require.True(t, ok)
		require.Empty(t, report.session)
	})
}

// What is kept is bounded, and what was forgotten is not said to have never come.
func TestEndingsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endings{}
		for i := range rememberedEndings + 1 {
			id := fmt.Sprint(i)
			e.begin(t.Context(), id)
			e.end(t.Context(), callNamed(id), "fine", &structpb.Struct{})
		}
		require.Empty(t, e.running)
		kept := 0
		for _, known := range e.last {
			if known.payload != nil {
				kept++
			}
		}
		require.Equal(t, rememberedPayloads, kept)
		report, ok := e.ask("1")
		require.True(t, ok)
		require.Equal(t, "fine", report.note)
		require.Nil(t, report.payload)
		report, _ = e.ask("0")
		require.Contains(t, report.note, "what had already happened is not known")
		time.Sleep(askedWithin)
		report, _ = e.ask("another")
		require.Contains(t, report.note, "nothing was done")
	})
}
