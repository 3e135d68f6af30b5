// Package history reads a session as the calls that were made in it.
package history

import (
	"context"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/proto"
)

// How a call stands. The first six are those of the engine.
const (
	Completed   = "completed"
	Failed      = "failed"
	Denied      = "denied"
	Cancelled   = "cancelled"
	Crashed     = "crashed"
	Skipped     = "skipped"
	Running     = "running"
	Interrupted = "interrupted"
)

// Calls reads the calls of a session, in the order in which they were asked for. An event that cannot be read is left out,
// which is for Verify to tell; what others tell of its call is not.
func Calls(ctx context.Context, f *session.File) ([]*Call, error) {
	r := reader{byID: map[string]*Call{}}
	for e, err := range f.Events(ctx) {
		if err != nil {
			return r.calls, err
		}
		r.event(e)
	}
	unfinished := Interrupted
	if f.Meta().Status == session.Running {
		unfinished = Running
	}
	for _, c := range r.calls {
		if c.Ended.IsZero() {
			c.Status = unfinished
		}
	}
	return r.calls, nil
}

type reader struct {
	calls []*Call
	byID  map[string]*Call
}

func (r *reader) event(e session.Event) {
	switch e.Kind {
	case session.ToolCall:
		r.called(e)
	case session.Plan:
		r.planned(e)
	case session.ToolResult:
		r.ended(e)
	case session.Apply:
		r.applied(e)
	}
}

func (r *reader) called(e session.Event) {
	var event eventv1.ToolCallEvent
	if proto.Unmarshal(e.Payload, &event) != nil || event.GetCall() == nil {
		return
	}
	call := event.GetCall()
	c := r.call(call.GetId(), e)
	c.TurnID, c.Tool, c.Producer = call.GetCallContext().GetTurnId(), call.GetToolName(), e.Producer
	c.asked, c.WorkingDir = call.GetArguments(), call.GetCallContext().GetWorkingDirectory()
	c.Began, c.Lost = e.Time, false
}

// call is the call that an event is about. One whose beginning the log does not have, since it was damaged or could not be
// written at first, begins with what there is. What names no call is about none that is kept.
func (r *reader) call(id string, e session.Event) *Call {
	c := r.byID[id]
	if c == nil {
		c = &Call{ID: id, Lost: true, Began: e.Time}
		if id != "" {
			r.calls, r.byID[id] = append(r.calls, c), c
		}
	}
	return c
}

func (r *reader) planned(e session.Event) {
	var event eventv1.PlanEvent
	if proto.Unmarshal(e.Payload, &event) != nil {
		return
	}
	for _, item := range event.GetPlan().GetItems() {
		c := r.call(item.GetCallId(), e)
		c.Plan, c.Decided = item, e.Time
		if c.Lost {
			c.TurnID, c.Tool = event.GetPlan().GetTurnId(), item.GetOperationName()
			c.Producer.Category = strings.ToLower(strings.TrimPrefix(item.GetProducerCategory().String(), "CATEGORY_"))
			c.Producer.Name = item.GetProvider()
		}
	}
}

func (r *reader) ended(e session.Event) {
	var event eventv1.ToolResultEvent
	if proto.Unmarshal(e.Payload, &event) != nil {
		return
	}
	c := r.call(event.GetToolCallId(), e)
	if c.Lost {
		c.Producer = e.Producer
	}
	c.end(e.Time, event.GetResult(), event.GetError())
}

// end notes how the call ended, as far as that says it.
func (c *Call) end(at time.Time, result *toolv1.ToolResult, failure *toolv1.ToolError) {
	c.Ended, c.Result, c.Error = at, result.GetPayload(), failure
	switch {
	case c.Error == nil:
		c.Status = Completed
	case c.Error.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED:
		c.Status = Cancelled
	case c.Error.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED:
		c.Status = Crashed
	default:
		c.Status = Failed
	}
}

// applied tells what the error alone does not: whether the call was run at all. It tells the end, too, when the log has
// lost that.
func (r *reader) applied(e session.Event) {
	var event eventv1.ApplyEvent
	if proto.Unmarshal(e.Payload, &event) != nil {
		return
	}
	for _, item := range event.GetResult().GetItems() {
		c := r.call(item.GetCallId(), e)
		if c.TurnID == "" {
			c.TurnID = event.GetResult().GetTurnId()
		}
		if c.Ended.IsZero() {
			c.end(e.Time, item.GetToolResult(), item.GetToolError())
		}
		switch item.GetOutcome() {
		case planv1.ApplyResult_APPLY_OUTCOME_DENIED:
			c.Status = Denied
		case planv1.ApplyResult_APPLY_OUTCOME_SKIPPED:
			c.Status = Skipped
		case planv1.ApplyResult_APPLY_OUTCOME_FAILED:
			if c.Error == nil {
				c.Status = Failed
			}
		}
	}
}
