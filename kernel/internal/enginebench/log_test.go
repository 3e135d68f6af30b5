package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
)

func TestLoggedCalls(t *testing.T) {
	for _, test := range []struct {
		name, operation string
		bytes           int
		kinds           []session.Kind
	}{
		{"a read", "read", 4096, []session.Kind{session.ToolCall, session.ToolResult}},
		{"a change", "change", 100, []session.Kind{session.ToolCall, session.Plan, session.ToolResult, session.Apply}},
	} {
		t.Run(test.name, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]int{"bytes": test.bytes})
			require.NoError(t, err)
			p, err := prepared(request{Operation: test.operation, Arguments: arguments})
			require.NoError(t, err)
			l, err := session.NewLog(t.TempDir(), session.Meta{ID: ulid.Make().String(), Command: "bench"}, nil)
			require.NoError(t, err)
			var a answer
			require.NoError(t, p.repeat(t.Context(), l, request{N: 3}, &a))
			require.Len(t, a.TookMS, 3)
			require.NoError(t, l.Close(session.Completed))
			f, err := session.Open(t.Context(), l.Path())
			require.NoError(t, err)
			defer f.Close()
			var kinds []session.Kind
			for e, err := range f.Events(t.Context()) {
				require.NoError(t, err)
				kinds = append(kinds, e.Kind)
				if e.Kind == session.ToolResult {
					var m eventv1.ToolResultEvent
					require.NoError(t, proto.Unmarshal(e.Payload, &m))
					require.Len(t, m.GetResult().GetPayload().GetFields()["content"].GetStringValue(), test.bytes)
				}
			}
			require.Equal(t, slices.Repeat(test.kinds, 3), kinds)
		})
	}
}

func TestLogAlone(t *testing.T) {
	b := &bench{folder: t.TempDir()}
	a := b.answer(t.Context(), request{ID: 1, Operation: "read", Arguments: json.RawMessage(`{"bytes":10000}`), N: 20, Workers: 4})
	require.Empty(t, a.Error)
	require.Len(t, a.TookMS, 20)
	require.Positive(t, a.CPUMS)
	require.Greater(t, len(a.Result), 10000, "what was logged")
	left, err := os.ReadDir(b.folder)
	require.NoError(t, err)
	require.Empty(t, left, "nobody reads it")

	for _, r := range []request{
		{Operation: "sing", Arguments: json.RawMessage(`{"bytes":1}`)},
		{Operation: "read", Arguments: json.RawMessage(`{"bytes":"many"}`)},
		{Operation: "read", Arguments: json.RawMessage(`{"bytes":-1}`)},
	} {
		require.NotEmpty(t, b.answer(t.Context(), r).Error)
	}
}
