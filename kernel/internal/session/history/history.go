// Package history reads a session as the calls that were made in it.
package history

import (
	"context"
	"time"

	"github.com/agentco/agent/kernel/internal/session"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
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

// Call is one call, as far as the log tells of it.
type Call struct {
	ID, TurnID string
	// Tool is the operation's name, without the provider's.
	Tool string
	// Producer answers for the operation.
	Producer session.Producer
	// Arguments are those it was asked for with; Plan has those that were approved.
	Arguments  *structpb.Struct
	WorkingDir string
	// Began is when it was asked for. Decided is when it was decided about, and zero when nothing had to be; Ended is zero
	// when no end is known.
	Began, Decided, Ended time.Time
	Status                string
	// Plan is what was decided about it; nil when nothing had to be.
	Plan   *planv1.PlanItem
	Result *structpb.Struct
	Error  *toolv1.ToolError
}

// String is the call as a person types it: PROVIDER.TOOL or /COMMAND.
func (c *Call) String() string { return Operation(c.Producer, c.Tool) }

// Operation is an operation as a person types it.
func Operation(p session.Producer, tool string) string {
	if p.Category == "slashcommand" {
		return "/" + tool
	}
	return p.Name + "." + tool
}

// Took is the time from the decision, or the request when there was none, to the end; zero without one. The time that a
// person took to answer is no part of it.
func (c *Call) Took() time.Duration {
	if c.Ended.IsZero() {
		return 0
	}
	begun := c.Began
	if c.Decided.After(begun) {
		begun = c.Decided
	}
	return c.Ended.Sub(begun)
}

// Calls reads the calls of a session, in the order in which they were asked for. What cannot be read is left out: that is
// for Verify to tell.
func Calls(ctx context.Context, f *session.File) ([]*Call, error) {
	r := reader{byID: map[string]*Call{}, plans: map[string]decision{}}
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
	// plans are the last items about each call. One may stand before its call, when that could not be written at first.
	plans map[string]decision
}

type decision struct {
	item *planv1.PlanItem
	at   time.Time
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
	plan := r.plans[call.GetId()]
	c := &Call{
		ID: call.GetId(), TurnID: call.GetCallContext().GetTurnId(), Tool: call.GetToolName(), Producer: e.Producer,
		Arguments: call.GetArguments(), Plan: plan.item, WorkingDir: call.GetCallContext().GetWorkingDirectory(),
		Began: e.Time, Decided: plan.at,
	}
	r.calls = append(r.calls, c)
	r.byID[c.ID] = c
}

func (r *reader) planned(e session.Event) {
	var event eventv1.PlanEvent
	if proto.Unmarshal(e.Payload, &event) != nil {
		return
	}
	for _, item := range event.GetPlan().GetItems() {
		r.plans[item.GetCallId()] = decision{item, e.Time}
		if c := r.byID[item.GetCallId()]; c != nil {
			c.Plan, c.Decided = item, e.Time
		}
	}
}

func (r *reader) ended(e session.Event) {
	var event eventv1.ToolResultEvent
	if proto.Unmarshal(e.Payload, &event) != nil {
		return
	}
	c := r.byID[event.GetToolCallId()]
	if c == nil {
		return
	}
	c.Ended, c.Result, c.Error = e.Time, event.GetResult().GetPayload(), event.GetError()
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

// applied tells what the error alone does not: whether the call was run at all.
func (r *reader) applied(e session.Event) {
	var event eventv1.ApplyEvent
	if proto.Unmarshal(e.Payload, &event) != nil {
		return
	}
	for _, item := range event.GetResult().GetItems() {
		c := r.byID[item.GetCallId()]
		if c == nil {
			continue
		}
		switch item.GetOutcome() {
		case planv1.ApplyResult_APPLY_OUTCOME_DENIED:
			c.Status = Denied
		case planv1.ApplyResult_APPLY_OUTCOME_SKIPPED:
			c.Status = Skipped
		}
	}
}
