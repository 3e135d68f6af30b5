package history

import (
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/session"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// What a damaged log still has of a call is shown, whichever of its events that is.
func TestLostBeginning(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	bash := session.Producer{Category: "tool", Name: "bash", Version: "1.2.3"}
	event := func(kind session.Kind, after time.Duration, p session.Producer, m proto.Message) session.Event {
		payload, err := proto.Marshal(m)
		require.NoError(t, err)
		return session.Event{Kind: kind, Time: at.Add(after), Producer: p, Payload: payload}
	}
	denied := &toolv1.ToolError{Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, Message: "no"}
	planned := event(session.Plan, 0, session.Producer{Category: "kernel"}, &eventv1.PlanEvent{Plan: &planv1.Plan{TurnId: "t", Items: []*planv1.PlanItem{{
		CallId: "c", Provider: "bash", OperationName: "run", ProducerCategory: commonv1.Category_CATEGORY_TOOL, DecidedBy: "a person",
	}}}})
	completed := event(session.ToolResult, time.Second, bash, &eventv1.ToolResultEvent{
		ToolCallId: "c", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{}},
	})
	applied := func(o planv1.ApplyResult_ApplyOutcome, failure *toolv1.ToolError) session.Event {
		item := &planv1.ApplyResult_ApplyItem{CallId: "c", Outcome: o}
		if failure != nil {
			item.Result = &planv1.ApplyResult_ApplyItem_ToolError{ToolError: failure}
		}
		return event(session.Apply, time.Minute, session.Producer{Category: "kernel"}, &eventv1.ApplyEvent{
			Result: &planv1.ApplyResult{TurnId: "t", Items: []*planv1.ApplyResult_ApplyItem{item}},
		})
	}
	for _, test := range []struct {
		name                         string
		events                       []session.Event
		operation, status, decidedBy string
		took                         time.Duration
	}{
		{"plan and result", []session.Event{planned, completed}, "bash.run", Completed, "a person", time.Second},
		{"result", []session.Event{completed}, "bash.?", Completed, "", 0},
		{"result and apply", []session.Event{completed, applied(planv1.ApplyResult_APPLY_OUTCOME_APPLIED, nil)}, "bash.?", Completed, "", 0},
		{"apply", []session.Event{applied(planv1.ApplyResult_APPLY_OUTCOME_DENIED, denied)}, "?", Denied, "", 0},
		{"apply of a failure without its error", []session.Event{applied(planv1.ApplyResult_APPLY_OUTCOME_FAILED, nil)}, "?", Failed, "", 0},
		{"plan and apply", []session.Event{planned, applied(planv1.ApplyResult_APPLY_OUTCOME_SKIPPED, denied)}, "bash.run", Skipped, "a person", time.Minute},
		{"a beginning that cannot be read", []session.Event{{Kind: session.ToolCall, Producer: bash, Payload: []byte{0xff}}, completed}, "bash.?", Completed, "", 0},
		{"a beginning that names no call", []session.Event{event(session.ToolCall, 0, bash, &eventv1.ToolCallEvent{Call: &toolv1.ToolCall{}}), completed}, "bash.?", Completed, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := reader{byID: map[string]*Call{}}
			for _, e := range test.events {
				r.event(e)
			}
			require.Len(t, r.calls, 1)
			c := r.calls[0]
			require.True(t, c.Lost)
			require.Equal(t, "the log has lost the beginning of c", c.LostNote())
			require.Equal(t, test.operation, c.String())
			require.Equal(t, test.status, c.Status)
			require.Equal(t, test.decidedBy, c.DecidedBy())
			require.Equal(t, test.took, c.Took())
			require.Nil(t, c.Requested())
		})
	}
}
