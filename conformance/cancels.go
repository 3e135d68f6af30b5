package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/conformance/internal/processes"
	"github.com/agentco/agent/conformance/internal/scenario"
	"github.com/agentco/agent/conformance/internal/subset"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

const (
	// grace is how long a cancelled call has, by the protocol.
	grace = 5 * time.Second
	// margin is for the way of a report, and for a machine that is busy.
	margin = time.Second
	// patience is how long a report is waited for: one that comes too late is another fault than none.
	patience = grace + 4*time.Second
)

// cancels are calls that were cancelled, each in a process of its own.
type cancels struct {
	err   error
	calls []cancelled
}

type cancelled struct {
	call    transcript
	over    bool // the call ended before it could be cancelled
	begun   bool // the provider had begun with it: one that is cancelled at once may not have arrived
	reports []report
	left    []string // processes that the call had started and that are still there after the grace time
	silence string   // what is known of the callback channel when there is no report
	lives   error    // why the provider does not answer any more
}

// report is an event that came over the callback channel for a cancelled call.
type report struct {
	request *kernelv1.EmitRequest
	event   *eventv1.ToolResultEvent
	after   time.Duration // since the cancellation; zero when it was not waited for
}

func (s *subject) cancelCalls() (out cancels) {
	calls := s.cancellable()
	out.calls = make([]cancelled, len(calls))
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() { out.calls[i], errs[i] = s.cancelReliably(c.op, c.planned) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			out.err = err
		}
	}
	return out
}

type plannedCancel struct {
	op      operation
	planned scenario.Call
}

// cancellable are the scenario's calls that say when to cancel them, and else calls of operations that only read,
// cancelled at once.
func (s *subject) cancellable() (out []plannedCancel) {
	situation, err := s.scenario.In(s.base)
	if err != nil {
		return nil
	}
	for _, c := range situation.Calls {
		if op, ok := s.discovery().find(c.Operation); ok && c.Cancel != nil {
			out = append(out, plannedCancel{op, c})
		}
	}
	for _, op := range s.tested() {
		if !slices.ContainsFunc(out, func(c plannedCancel) bool { return c.op.category == op.category }) {
			out = append(out, plannedCancel{op, scenario.Call{
				Operation: op.GetName(), Name: "made up", Arguments: subset.Valid(op.GetInputSchema()), Cancel: &scenario.Cancel{},
			}})
		}
	}
	return out
}

// cancelReliably tries again when no report came: a call can end by itself just before the cancellation arrives, and
// whatever it sent then is lost with the stream. That does not happen every time.
func (s *subject) cancelReliably(op operation, planned scenario.Call) (cancelled, error) {
	const more = 3
	first, err := s.cancelOne(op, planned)
	if err == nil && len(first.reports) > 0 && first.reports[0].after > grace+margin && s.ctx.Err() == nil {
		// Once more: the machine may have been busy.
		if again, err := s.cancelOne(op, planned); err == nil && len(again.reports) > 0 {
			return again, nil
		}
	}
	if err != nil || s.ctx.Err() != nil || first.over || !first.begun || len(first.reports) > 0 || op.GetKind() != toolv1.ToolKind_TOOL_KIND_RESOURCE {
		return first, err
	}
	again := make([]cancelled, more)
	var all sync.WaitGroup
	for i := range again {
		all.Go(func() { again[i], _ = s.cancelOne(op, planned) })
	}
	all.Wait()
	for _, other := range again {
		if len(other.reports) > 0 {
			return other, nil
		}
	}
	return first, nil
}

func (s *subject) cancelOne(op operation, planned scenario.Call) (cancelled, error) {
	r, err := s.configured(nil)
	if err != nil {
		return cancelled{}, err
	}
	defer r.end()
	for _, c := range r.place.situation.Calls { // its arguments may name the working folder
		if c.Operation == planned.Operation && c.Name == planned.Name {
			planned = c
		}
	}
	before := r.processes()
	call := r.call(op, planned.Arguments, planned.Directory)
	out, when := r.cancelAt(op, planned, call)
	if out.over {
		return out, nil
	}
	if op.GetKind() == toolv1.ToolKind_TOOL_KIND_RESOURCE && out.begun {
		r.awaitReport(call.GetId(), when, &out)
	}
	out.left = r.awaitBack(before, when.Add(grace+margin))
	out.reports = r.reportsOf(call.GetId(), out.reports)
	out.silence = r.silence()
	out.lives = r.answers(op)
	return out, nil
}

// silence says where to look when nothing came over the callback channel.
func (r *running) silence() string {
	switch refused := r.Callbacks.Refused(); {
	case refused != nil:
		return fmt.Sprintf("its connection to the callback channel was refused: %v; see the certificate that it announces, which it must show there too", refused)
	case !r.Dialled():
		return fmt.Sprintf("it never connected to the callback channel, the broker's stream %d", plugin.CallbackStreamID)
	case len(r.Callbacks.Emitted())+len(r.Callbacks.Logged()) == 0:
		return "it connected to the callback channel and sent nothing"
	default:
		return "other callbacks of it arrived"
	}
}

// answers says why the provider does not answer: a question about itself, or a call that only reads.
func (r *running) answers(after operation) error {
	ctx, cancel := r.subject.patient()
	defer cancel()
	if _, err := r.service(after.category).list(ctx); err != nil {
		return r.mortal(err, "the cancelled call")
	}
	for _, op := range r.subject.tested() {
		call := r.invoke(op, "after a cancellation", r.call(op, subset.Valid(op.GetInputSchema()), ""))
		if len(call.terminals()) == 0 {
			return fmt.Errorf("%s ends with %s", call, call.ending())
		}
	}
	return nil
}

// cancelAt makes a call and cancels it at its moment.
func (r *running) cancelAt(op operation, planned scenario.Call, call *toolv1.ToolCall) (out cancelled, when time.Time) {
	ctx, stop := r.subject.patient()
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	act := func() {
		time.AfterFunc(planned.Cancel.After, func() {
			once.Do(func() {
				when = time.Now()
				cancel()
			})
		})
	}
	if planned.Cancel.Event == "" {
		act()
	}
	awaited := func(e *toolv1.ToolEvent) bool {
		return planned.Cancel.Event == "event" || planned.Cancel.Event == "output" && (e.GetOutputChunk() != nil || e.GetPartialResult() != nil)
	}
	var first sync.Once
	out.call = r.service(op.category).invoke(ctx, op, planned.Name+", cancelled", call, func(e *toolv1.ToolEvent) {
		if awaited(e) {
			first.Do(act)
		}
	})
	r.listen(out.call)
	// From here on no timer can set the moment any more.
	once.Do(func() { when = time.Now() })
	out.over = len(out.call.terminals()) > 0 || out.call.err == nil || ctx.Err() == nil
	out.begun = len(out.call.events) > 0 || planned.Cancel.After > 0
	return out, when
}

func (r *running) awaitReport(id string, when time.Time, out *cancelled) {
	ctx, cancel := context.WithDeadline(r.subject.ctx, when.Add(patience))
	defer cancel()
	event, err := r.Callbacks.Report(ctx, id)
	if err == nil {
		out.reports = []report{{event: event, after: time.Since(when)}}
	}
}

// reportsOf gives every event of a call; what is known of the first is kept.
func (r *running) reportsOf(id string, known []report) (out []report) {
	for _, request := range r.Callbacks.Emitted() {
		event := &eventv1.ToolResultEvent{}
		if request.GetKind() == kernelv1.EventKind_EVENT_KIND_TOOL_RESULT && proto.Unmarshal(request.GetPayload(), event) == nil && event.GetToolCallId() != id {
			continue
		}
		one := report{request: request, event: event}
		if len(known) > 0 && len(out) == 0 {
			one.after = known[0].after
		}
		out = append(out, one)
	}
	return out
}

// processes are the provider's processes, by number, with their names.
func (r *running) processes() map[int]string {
	out := map[int]string{}
	for _, pid := range processes.Related(r.PID(), r.place.dir) {
		out[pid] = processes.Name(pid)
	}
	return out
}

// awaitBack waits until no process is there that was not there before, and names those that are. A helper of the
// provider's own that replaces another of the same name is none.
func (r *running) awaitBack(before map[int]string, deadline time.Time) (left []string) {
	helpers := map[string]bool{}
	for _, name := range before {
		helpers[name] = true
	}
	for {
		left = nil
		for pid, name := range r.processes() {
			if _, known := before[pid]; !known && !helpers[name] {
				left = append(left, name)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) || r.subject.ctx.Err() != nil {
			return left
		}
		time.Sleep(50 * time.Millisecond)
	}
}
