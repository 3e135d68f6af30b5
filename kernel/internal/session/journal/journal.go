// Package journal writes what an engine tells of a session into its log: every call with its end, what was decided about
// it and by whom, and what it printed.
//
//	engine.Session ──► Journal ──► session.Log
//
// A call leaves a tool_call event when it is asked for, a plan event when it was decided about, and a tool_result event
// with an apply event when it has ended. Of what a provider says on the way only its output is kept, in the table of that
// name: progress is over when it was shown, a partial result comes again in the result, and an exit status is content of
// the result. The report of a cancelled call is in the details of the error it ends with.
package journal

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/secret"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/proto/codec"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Journal is an engine.Journal that writes a log. Its methods may be called from many goroutines.
type Journal struct {
	log  *session.Log
	o    Options
	warn sync.Once

	mu    sync.Mutex
	calls map[string]*call // those that have not ended
}

// Options is what a journal needs to know beside the log.
type Options struct {
	// SessionID and WorkingDir are what the calls of the session carry.
	SessionID, WorkingDir string
	// Version is that of the kernel.
	Version string
	// Producers says who answers for the operations of a provider, by its name in agent.hcl.
	Producers func(provider string) []*commonv1.ProducerRef
	// Secrets are never written.
	Secrets *secret.Set
	// Warn is told once that the log cannot be written, while calls that only read go on. It may be nil.
	Warn func(error)
}

// call is a call that has not ended.
type call struct {
	turnID   string
	producer session.Producer
	kind     toolv1.ToolKind
	item     *planv1.PlanItem
	// unsafe are the entries about it that are not known to be in the log.
	unsafe   []pending
	settling sync.Mutex // held while they are waited for
	refused  bool       // it was not run since it could not be logged
}

type pending struct {
	entry   session.Entry
	receipt *session.Receipt
}

// New writes to a log, which it closes with Close.
func New(log *session.Log, o Options) *Journal {
	return &Journal{log: log, o: o, calls: map[string]*call{}}
}

// Called notes a call that is wanted.
func (j *Journal) Called(n engine.CalledNote) {
	op := n.Request.Operation
	c := &call{turnID: n.TurnID, producer: j.producer(op), kind: op.Kind}
	event := &eventv1.ToolCallEvent{Call: &toolv1.ToolCall{
		Id: n.CallID, ToolName: op.Name, Arguments: n.Request.Arguments,
		CallContext: &commonv1.CallContext{SessionId: j.o.SessionID, TurnId: n.TurnID, WorkingDirectory: j.o.WorkingDir},
	}}
	entry := session.Entry{Kind: session.ToolCall, Producer: c.producer, CallID: n.CallID, Payload: encode(secret.Clean(j.o.Secrets, event))}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls[n.CallID] = c
	j.append(c, entry)
}

// Planned notes what was decided about a call.
func (j *Journal) Planned(turnID string, item *planv1.PlanItem) {
	item = secret.Clean(j.o.Secrets, item)
	event := &eventv1.PlanEvent{Plan: &planv1.Plan{TurnId: turnID, Items: []*planv1.PlanItem{item}}}
	entry := session.Entry{
		Kind: session.Plan, Producer: j.kernel(), CallID: item.GetCallId(), Payload: encode(event),
		Items: []session.PlanItem{session.ItemOf(turnID, 0, item)},
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.calls[item.GetCallId()]
	if c == nil {
		j.log.Append(entry)
		return
	}
	c.item = item
	j.append(c, entry)
}

// Event keeps what a call prints.
func (j *Journal) Event(callID string, event *toolv1.ToolEvent) {
	chunk := event.GetOutputChunk()
	if chunk == nil {
		return
	}
	stream := session.Stdout
	if chunk.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDERR {
		stream = session.Stderr
	}
	j.log.Print(session.Output{CallID: callID, Stream: stream, Data: j.o.Secrets.Bytes(chunk.GetData())})
}

// Flush returns when all that was noted about calls that have not ended is in the log. What could not be written when it
// was noted is tried again.
func (j *Journal) Flush(ctx context.Context) error {
	j.mu.Lock()
	open := slices.Collect(maps.Values(j.calls))
	j.mu.Unlock()
	for _, c := range open {
		if err := j.settle(ctx, c); err != nil {
			j.refused(open)
			return err
		}
	}
	return nil
}

// refused notes that the reason is told with the outcome of a call, since that may not run.
func (j *Journal) refused(calls []*call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range calls {
		c.refused = c.kind == toolv1.ToolKind_TOOL_KIND_RESOURCE
	}
}

// conclude writes the end of a call and what came of its plan, at once, unless its beginning is missing and cannot be
// written now either: they would be of no use alone.
func (j *Journal) conclude(c *call, o engine.Outcome, result *eventv1.ToolResultEvent, end session.Entry) error {
	ctx := context.Background() // the call is over, whoever cancelled it
	if err := j.lateBeginning(ctx, c); err != nil {
		return err
	}
	ended := j.log.Append(end)
	if c.item == nil {
		_, err := ended.Wait(ctx)
		return err
	}
	after := j.log.Append(session.Entry{Kind: session.Apply, Producer: j.kernel(), CallID: o.CallID, Payload: encode(applied(c, o, result))})
	_, first := ended.Wait(ctx)
	_, second := after.Wait(ctx)
	return cmp.Or(first, second)
}

func (j *Journal) wasRefused(c *call) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return c.refused
}

// settle makes sure of what is known of a call.
func (j *Journal) settle(ctx context.Context, c *call) error {
	c.settling.Lock()
	defer c.settling.Unlock()
	j.mu.Lock()
	unsafe := slices.Clone(c.unsafe)
	j.mu.Unlock()
	for _, p := range unsafe {
		_, err := p.receipt.Wait(ctx)
		if err != nil && ctx.Err() == nil {
			_, err = j.log.Append(p.entry).Wait(ctx)
		}
		if err != nil {
			return err
		}
		j.mu.Lock()
		c.unsafe = c.unsafe[1:]
		j.mu.Unlock()
	}
	return nil
}

// append is called with the lock held, so that a call's entries are in the log in their order.
func (j *Journal) append(c *call, e session.Entry) {
	c.unsafe = append(c.unsafe, pending{e, j.log.Append(e)})
}

// Ended notes how a call ended, and returns when that is in the log.
func (j *Journal) Ended(o engine.Outcome) error {
	j.mu.Lock()
	c := j.calls[o.CallID]
	delete(j.calls, o.CallID)
	j.mu.Unlock()
	if c == nil {
		return errors.New("a call ended that nobody had asked for")
	}
	result := &eventv1.ToolResultEvent{ToolCallId: o.CallID}
	if failure := failureOf(o); failure != nil {
		result.Outcome = &eventv1.ToolResultEvent_Error{Error: failure}
	} else {
		result.Outcome = &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{Payload: o.Result}}
	}
	if clean := secret.Clean(j.o.Secrets, result); clean != result {
		result, o.Encoded = clean, ""
	}
	end := session.Entry{Kind: session.ToolResult, Producer: c.producer, CallID: o.CallID, Payload: encodeResult(result, o.Encoded)}
	if o.Report != nil {
		end.ID = o.Report.ID // as the provider was told
	}
	err := j.conclude(c, o, result, end)
	switch {
	case err == nil, j.wasRefused(c): // its outcome tells
		return nil
	case j.o.Warn == nil:
		return err
	default:
		j.warn.Do(func() { j.o.Warn(err) })
		return nil
	}
}

// lateBeginning writes what could not be written when the call began. It waits for nothing that went well.
func (j *Journal) lateBeginning(ctx context.Context, c *call) error {
	j.mu.Lock()
	failed := slices.ContainsFunc(c.unsafe, func(p pending) bool { return p.receipt.Failed() })
	j.mu.Unlock()
	if !failed {
		return nil
	}
	return j.settle(ctx, c)
}

// Emitted keeps an event of a provider, as it is.
func (j *Journal) Emitted(m engine.Emission) (id string, sequence int64, err error) {
	id = ulid.Make().String()
	kind := session.Kind(strings.ToLower(strings.TrimPrefix(m.Kind.String(), "EVENT_KIND_")))
	producer := j.producer(engine.Operation{Provider: m.Provider, Category: commonv1.Category_CATEGORY_TOOL})
	entry := session.Entry{ID: id, Kind: kind, Producer: producer, SchemaVersion: m.SchemaVersion, Payload: m.Payload}
	sequence, err = j.log.Append(entry).Wait(context.Background())
	return id, sequence, err
}

// Close ends the log, and tells how the session ended.
func (j *Journal) Close(s session.Status) error { return j.log.Close(s) }

// encodeResult is encode for an event whose payload may have been received as it is stored.
func encodeResult(result *eventv1.ToolResultEvent, received string) []byte {
	if content, err := codec.MarshalResult(result, received); err == nil {
		return content
	}
	return encode(result)
}

// encode is a message, without secrets, as it is stored. There is none that cannot be.
func encode(m proto.Message) []byte {
	content, err := codec.Marshal(m)
	if err != nil { // arguments that were refused for it may be no UTF-8
		content, _ = codec.Marshal(secret.Valid(m))
	}
	return content
}

func (j *Journal) kernel() session.Producer {
	return session.Producer{Category: "kernel", Name: "agent", Version: j.o.Version}
}

func (j *Journal) producer(op engine.Operation) session.Producer {
	p := session.Producer{Category: "tool", Name: op.Provider}
	if op.IsCommand() {
		p.Category = "slashcommand"
	}
	if j.o.Producers == nil {
		return p
	}
	for _, ref := range j.o.Producers(op.Provider) {
		if ref.GetCategory() == op.Category {
			p.Version, p.Source = ref.GetVersion(), ref.GetSource()
		}
	}
	return p
}

// failureOf is why a call did not complete, with what its provider reported of it.
func failureOf(o engine.Outcome) *toolv1.ToolError {
	if o.Report == nil || o.Error == nil {
		return o.Error
	}
	failure := proto.CloneOf(o.Error)
	if failure.Details == nil {
		failure.Details = &structpb.Struct{}
	}
	if failure.Details.Fields == nil {
		failure.Details.Fields = map[string]*structpb.Value{}
	}
	partial := o.Report.Partial
	if partial == nil {
		partial = &structpb.Struct{}
	}
	details := failure.Details.Fields
	details["partial_result"] = structpb.NewStructValue(partial)
	details["note"] = structpb.NewStringValue(o.Report.Note)
	if output := o.Report.Output; len(output) > 0 {
		if utf8.Valid(output) {
			details["output"] = structpb.NewStringValue(string(output))
		} else {
			details["output"] = structpb.NewStringValue(base64.StdEncoding.EncodeToString(output))
			details["output_encoding"] = structpb.NewStringValue("base64")
		}
	}
	return failure
}

// applied is what came of the plan for a call.
func applied(c *call, o engine.Outcome, result *eventv1.ToolResultEvent) *eventv1.ApplyEvent {
	item := &planv1.ApplyResult_ApplyItem{PlanItemId: c.item.GetId(), CallId: o.CallID, Outcome: outcomes[o.Status]}
	if o.Status == engine.Cancelled && o.Attempts > 0 {
		item.Outcome = planv1.ApplyResult_APPLY_OUTCOME_FAILED // it had begun
	}
	if failure := result.GetError(); failure != nil {
		item.Result = &planv1.ApplyResult_ApplyItem_ToolError{ToolError: failure}
	} else {
		item.Result = &planv1.ApplyResult_ApplyItem_ToolResult{ToolResult: result.GetResult()}
	}
	return &eventv1.ApplyEvent{Result: &planv1.ApplyResult{TurnId: c.turnID, Items: []*planv1.ApplyResult_ApplyItem{item}}}
}

var outcomes = map[engine.Status]planv1.ApplyResult_ApplyOutcome{
	engine.Completed: planv1.ApplyResult_APPLY_OUTCOME_APPLIED,
	engine.Failed:    planv1.ApplyResult_APPLY_OUTCOME_FAILED,
	engine.Crashed:   planv1.ApplyResult_APPLY_OUTCOME_FAILED,
	engine.Cancelled: planv1.ApplyResult_APPLY_OUTCOME_SKIPPED,
	engine.Skipped:   planv1.ApplyResult_APPLY_OUTCOME_SKIPPED,
	engine.Denied:    planv1.ApplyResult_APPLY_OUTCOME_DENIED,
}
