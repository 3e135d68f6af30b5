package history

import (
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// What a call took is the work, and not the person who was asked about it.
func TestTook(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	event := func(kind session.Kind, after time.Duration, m proto.Message) session.Event {
		payload, err := proto.Marshal(m)
		require.NoError(t, err)
		return session.Event{Kind: kind, Time: at.Add(after), Payload: payload}
	}
	asked := event(session.ToolCall, 0, &eventv1.ToolCallEvent{Call: &toolv1.ToolCall{Id: "c"}})
	decided := event(session.Plan, time.Minute, &eventv1.PlanEvent{Plan: &planv1.Plan{Items: []*planv1.PlanItem{{CallId: "c"}}}})
	ended := event(session.ToolResult, time.Minute+time.Second, &eventv1.ToolResultEvent{ToolCallId: "c"})
	for _, test := range []struct {
		name   string
		events []session.Event
		took   time.Duration
	}{
		{"asked about", []session.Event{asked, decided, ended}, time.Second},
		{"asked about, and the request written late", []session.Event{decided, asked, ended}, time.Second},
		{"not asked about", []session.Event{asked, ended}, time.Minute + time.Second},
		{"no end", []session.Event{asked, decided}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := reader{byID: map[string]*Call{}}
			for _, e := range test.events {
				r.event(e)
			}
			require.Len(t, r.calls, 1)
			require.Equal(t, test.took, r.calls[0].Took())
		})
	}
}
