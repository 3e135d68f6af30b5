package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/session"
)

func TestRepetition(t *testing.T) {
	for _, test := range []struct{ name, arguments, want string }{
		{"numbers", `{"old":"x${i}","new":"x${next}"}`, `{"old":"x7","new":"x8"}`},
		{"none", `{"path":"a","limit":3}`, `{"path":"a","limit":3}`},
		{"no arguments", ``, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := repetitions(json.RawMessage(test.arguments))(7)
			require.NoError(t, err)
			got, err := s.MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(got))
		})
	}
	_, err := repetitions(json.RawMessage(`[1]`))(0)
	require.Error(t, err)
}

func TestAnswer(t *testing.T) {
	result, err := structpb.NewStruct(map[string]any{"a": 1})
	require.NoError(t, err)
	var a answer
	a.add(call{took: 2 * time.Millisecond, first: time.Millisecond, output: 5, result: result})
	a.add(call{took: 3 * time.Millisecond, output: 6, result: &structpb.Struct{}})
	a.add(call{took: time.Second}) // it failed
	require.Equal(t, []float64{2, 3}, a.TookMS)
	require.Equal(t, []float64{1}, a.FirstMS)
	require.Equal(t, 6, a.Output)
	require.JSONEq(t, `{"a":1}`, string(a.Result), "the first, since the others are the same")
}

func TestEntriesAreCalls(t *testing.T) {
	require.Equal(t, session.ToolCall, entry(0).Kind)
	require.Equal(t, session.ToolResult, entry(1).Kind)
	require.Equal(t, entry(0).CallID, entry(1).CallID)
	require.NotEqual(t, entry(1).CallID, entry(2).CallID)
}
