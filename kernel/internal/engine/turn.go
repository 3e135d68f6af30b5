package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/oklog/ulid/v2"
)

// Invoke runs one call and returns when it is over; sink may be nil. It fails in no other way than by its Outcome.
// When ctx is done the call is cancelled: Invoke then waits for the provider's report, for as long as the grace time
// allows (about six seconds), unless Kill ends it.
func (s *Session) Invoke(ctx context.Context, r Request, sink Sink) Outcome {
	if sink == nil {
		sink = func(*toolv1.ToolEvent) {}
	}
	return s.Turn(ctx, []Request{r}, func(_ int, event *toolv1.ToolEvent) { sink(event) })[0]
}

// Turn runs several calls as one turn: they share one plan, so that everything that must be asked about is asked at
// once. Calls that are allowed do not wait for the answers. sink gets each event with the index of its request, and is
// called from several goroutines when calls run beside each other. Outcomes are in the order of the requests.
func (s *Session) Turn(ctx context.Context, requests []Request, sink func(i int, event *toolv1.ToolEvent)) []Outcome {
	t := &turn{session: s, id: ulid.Make().String(), began: time.Now()}
	for i, r := range requests {
		c := t.call(i, r, func(event *toolv1.ToolEvent) { sink(i, event) })
		s.journal.Called(CalledNote{CallID: c.outcome.CallID, TurnID: t.id, Request: r})
		t.calls = append(t.calls, c)
	}
	ctx, end, err := s.engine.begin(ctx)
	if err != nil {
		for _, c := range t.calls {
			c.cancelled(err)
			c.note()
		}
		return t.outcomes()
	}
	defer end()
	defer s.engine.speak(s)()
	t.run(ctx)
	return t.outcomes()
}

// turn is one plan and the calls in it.
type turn struct {
	session *Session
	id      string
	began   time.Time
	calls   []*call
}

// call is one call on its way to an outcome.
type call struct {
	turn    *turn
	request Request
	sink    Sink
	after   []*call
	begun   time.Time
	over    chan struct{} // closed when the outcome is known
	outcome Outcome
	// rendering is what its provider keeps to show the result; nil when it does not.
	rendering *host.Kept
	crash     int64            // what of its provider's the last attempt was lost with; zero when it was not
	outside   bool             // of its fence
	decided   *planv1.PlanItem // what the journal has not been told yet
}

func (t *turn) call(i int, r Request, sink Sink) *call {
	c := &call{turn: t, request: r, sink: sink, begun: time.Now(), over: make(chan struct{})}
	c.outcome = Outcome{CallID: cmp.Or(r.CallID, NewCallID(r.Operation)), Operation: r.Operation.String()}
	for _, before := range r.After {
		if before < i {
			c.after = append(c.after, t.calls[before])
		}
	}
	return c
}

// note tells everyone how the call ended: those that wait for it, the journal, and whoever wants to know.
func (c *call) note() {
	defer close(c.over)
	if c.outcome.Status == "" { // a panic is on its way through here, such as one of whoever is shown the events
		c.fail(Failed, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN,
			"%s met a fault of the kernel, so that it is not known what it has done", c.outcome.Operation))
	}
	if c.request.Ended != nil {
		defer c.request.Ended(c.outcome)
	}
	rendered := c.render()
	c.log()
	c.outcome.Rendering = rendered()
}

// log keeps the outcome in the journal. The call has ended as it has, whether that can be kept or not.
func (c *call) log() {
	c.plan()
	c.debug("the call has ended", "status", string(c.outcome.Status), "took", time.Since(c.begun))
	if err := c.turn.session.journal.Ended(c.outcome); err != nil {
		c.turn.session.engine.log.Warn("the end of a call could not be logged", "operation", c.outcome.Operation, "cause", err.Error())
	}
}

// debug says what becomes of the call, without its arguments.
func (c *call) debug(what string, more ...any) {
	if log := c.turn.session.engine.log; log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug(what, append([]any{"operation", c.outcome.Operation, "call", c.outcome.CallID}, more...)...)
	}
}

// NewCallID is an id for a call of an operation that no other has.
func NewCallID(op Operation) string {
	if op.IsCommand() {
		return "sc_" + ulid.Make().String()
	}
	return "tc_" + ulid.Make().String()
}

// run takes the calls through the gate and runs those that it lets through.
func (t *turn) run(ctx context.Context) {
	var sound []*call
	var review []gate.Call
	t.warm()
	for _, c := range t.calls {
		if !c.settle(ctx) {
			c.note()
			continue
		}
		sound = append(sound, c)
		review = append(review, t.session.forGate(c.outcome.CallID, c.request))
	}
	plan := t.session.gate.Review(review)
	var running sync.WaitGroup
	defer running.Wait()
	var open []int
	for i, c := range sound {
		c.enclose(plan, i)
		c.interrupt(plan, i)
		if verdict, decided := plan.Decided(i); decided {
			c.take(ctx, verdict, &running)
		} else {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return
	}
	verdicts := plan.Ask(ctx)
	for _, i := range open {
		sound[i].take(ctx, verdicts[i], &running)
	}
}

// take follows a verdict, beside other calls when the call runs and there are any: a goroutine takes time to begin. What does
// not run is told of in the order of the turn.
func (c *call) take(ctx context.Context, v gate.Verdict, running *sync.WaitGroup) {
	if v.Allowed && len(c.turn.calls) > 1 {
		running.Go(func() { c.follow(ctx, v) })
		return
	}
	c.follow(ctx, v)
}

func (t *turn) outcomes() []Outcome {
	outcomes := make([]Outcome, len(t.calls))
	for i, c := range t.calls {
		outcomes[i] = c.outcome
	}
	return outcomes
}

func (s *Session) forGate(id string, r Request) gate.Call {
	op := r.Operation
	return gate.Call{
		ID: id, Provider: op.Provider, Operation: op.Name, Category: op.Category, Kind: op.Kind, Risk: op.Risk,
		Description: op.Description, Arguments: r.Arguments, Within: r.Within, Deadline: s.engine.shortened(r), Later: len(r.After) > 0,
	}
}

// follow does what the gate says.
func (c *call) follow(ctx context.Context, v gate.Verdict) {
	defer c.note()
	defer c.strike()
	c.outcome.DecidedBy, c.outcome.Plan = v.By, v.Item
	if v.Arguments != nil {
		c.request.Arguments = v.Arguments
	}
	c.decided = c.planItem(v)
	c.debug("the call was decided about", "allowed", v.Allowed, "by", v.By)
	if !v.Allowed || v.Item != nil {
		c.plan()
	}
	switch {
	case v.Allowed && c.mayBegin(ctx):
		c.execute(ctx)
	case v.Allowed:
	case v.Refusal != nil:
		c.fail(Failed, v.Refusal)
	case ctx.Err() != nil:
		c.cancelled(context.Cause(ctx))
	default:
		c.fail(Denied, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, "%s", v.Reason))
	}
}

// plan notes what was decided about the call, once. When nobody was asked that can wait until the call is safe in the log.
func (c *call) plan() {
	if c.decided != nil {
		c.turn.session.journal.Planned(c.turn.id, c.decided)
		c.decided = nil
	}
}

// planItem is what the journal keeps of a verdict: the item that was asked about, or, of a call that changes something, may
// not run, or may by a rule, one that says who decided without asking. A reading that simply may run is in no plan.
func (c *call) planItem(v gate.Verdict) *planv1.PlanItem {
	op := c.request.Operation
	if v.Item != nil || v.Refusal != nil || v.Allowed && v.By == policy.FreeByDefault {
		return v.Item
	}
	item := &planv1.PlanItem{
		Id: ulid.Make().String(), CallId: c.outcome.CallID, Provider: op.Provider, OperationName: op.Name,
		Input: c.request.Arguments, Decision: planv1.PlanDecision_PLAN_DECISION_DENY, DecidedBy: v.By,
		Kind: op.Kind, Risk: op.Risk, Description: op.Description, ProducerCategory: op.Category,
	}
	if v.Allowed {
		item.Decision = planv1.PlanDecision_PLAN_DECISION_ALLOW
	}
	return item
}

// recorded returns when a call that changes something can be told of even if the kernel dies in it: there is no change
// that the log does not know.
func (c *call) recorded(ctx context.Context) *toolv1.ToolError {
	if c.request.Operation.Kind != toolv1.ToolKind_TOOL_KIND_RESOURCE {
		return nil
	}
	if err := c.turn.session.journal.Flush(ctx); err != nil {
		return host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED,
			"%s was not run, since it could not be logged and nothing is changed without a trace: %v", c.outcome.Operation, err)
	}
	return nil
}

// show passes on what the provider says during the call.
func (c *call) show(event *toolv1.ToolEvent) {
	c.turn.session.journal.Event(c.outcome.CallID, event)
	c.sink(event)
}

// judge turns the provider's reply into the outcome, and shows the last event as it stands after that.
func (c *call) judge(reply host.Reply, late bool, limit time.Duration) {
	switch reply.Ending {
	case host.Completed:
		c.outcome.Status, c.outcome.Result, c.outcome.Encoded, c.outcome.Rendering = Completed, reply.Payload, reply.Encoded, reply.Rendering
		c.rendering = reply.Kept
		c.sink(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: reply.Payload}}})
	case host.Cancelled:
		if !late {
			c.fail(Cancelled, reply.Error)
			return
		}
		text := fmt.Sprintf("%s was stopped after %s, its deadline", c.outcome.Operation, limit)
		if reply.Report != nil && reply.Report.Note != "" {
			text += ": " + reply.Report.Note
		}
		c.end(Failed, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, "%s", text))
	case host.Crashed:
		c.end(Crashed, reply.Error)
	default:
		c.end(Failed, reply.Error)
	}
}

// end fails a call that its provider had begun: the error is its last event.
func (c *call) end(s Status, err *toolv1.ToolError) {
	c.fail(s, err)
	c.sink(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: err}})
}

func (c *call) fail(s Status, err *toolv1.ToolError) {
	c.outcome.Status, c.outcome.Error = s, err
	if c.outcome.Took == 0 {
		c.outcome.Waited = time.Since(c.turn.began)
	}
}

// cancelled ends a call that never reached its provider.
func (c *call) cancelled(cause error) {
	c.fail(Cancelled, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
		"%s was cancelled before it began (%v): nothing has happened", c.outcome.Operation, cause))
}
