package sdk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/secret"
)

// outcome is what the function of an operation returned.
type outcome struct {
	payload *structpb.Struct
	err     error
}

// invoke runs one call to its end. It returns nil when the stream ended with a result or an error, and a gRPC
// status when the call was cancelled and the stream ends with neither.
func (s *server) invoke(rpc context.Context, command bool, call *toolv1.ToolCall, send func(*toolv1.ToolEvent) error) error {
	ctx, end, ok := s.life.begin(rpc)
	if !ok {
		return send(s.errorEvent(s.ending()))
	}
	defer end()
	s.callbacks.prepare()
	attempt := attemptOf(rpc, call.GetId())
	if !s.endings.begin(rpc, attempt) {
		return status.FromContextError(rpc.Err()).Err()
	}
	defer s.endings.leave(attempt)
	op, config, err := s.admit(command, call.GetToolName())
	about := &spec{name: call.GetToolName()}
	if op != nil {
		about = op.about()
	}
	f := &frame{
		server: s, config: config, call: call, operation: about,
		events: &events{ctx: ctx, send: send, operation: about.name, streaming: about.streaming, secrets: s.secrets},
	}
	defer f.grace.finish()
	out := outcome{err: err}
	if err == nil {
		out = s.carryOut(ctx, op, f)
	}
	if ctx.Err() == nil {
		s.callbacks.logs.flush()
		err = f.events.end(s.lastEvent(about, out))
		s.attachRendering(ctx, f, op, out)
	}
	if !s.endings.end(ctx, f.concluded(attempt, out)) {
		return err
	}
	// The last event, if there was one, may not have arrived. What the function still sends is dropped.
	f.events.close()
	s.report(f, out)
	return status.FromContextError(ctx.Err()).Err()
}

// errNotBegun is the outcome of a call that was cancelled before its function was called.
var errNotBegun = errors.New("the call was cancelled before it began")

// carryOut runs the function of a call, unless the call was cancelled before.
func (s *server) carryOut(ctx context.Context, op operation, f *frame) outcome {
	if ctx.Err() != nil {
		return outcome{err: errNotBegun}
	}
	done := make(chan outcome, 1)
	f.expectRendering(ctx, op)
	s.workers.run(func() {
		defer f.endRendering()
		s.renderSmall(f, op, run(ctx, op, f, done))
	})
	return f.events.judged(f.await(done))
}

func (s *server) admit(command bool, name string) (operation, any, error) {
	op, err := s.find(command, name)
	if err != nil {
		return nil, nil, err
	}
	config, err := s.configuration()
	return op, config, err
}

// run gives done an outcome, whatever becomes of the function. It does not return when that ended its goroutine.
func run(ctx context.Context, op operation, f *frame, done chan<- outcome) (out outcome) {
	out.err = errVanished
	defer func() { done <- out }()
	defer recovered(op.about().name, &out.err)
	out.payload, out.err = op.run(ctx, f, f.call.GetArguments())
	return out
}

// errAbandoned is the outcome of a function that went on past the grace time.
var errAbandoned = errors.New("the operation ignored its cancellation and was abandoned")

// await waits for the function, after a cancellation only until the grace time is over.
func (f *frame) await(done <-chan outcome) outcome {
	select {
	case out := <-done:
		return out
	case <-f.events.ctx.Done():
	}
	select {
	case out := <-done:
		return out
	case <-f.grace.of(f).Done():
		return outcome{err: errAbandoned}
	}
}

// lastEvent is the one event that ends a call that was not cancelled.
func (s *server) lastEvent(op *spec, out outcome) *toolv1.ToolEvent {
	if out.err != nil {
		return s.errorEvent(uncancelled(out.err))
	}
	event := &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: out.payload}}}
	if atMost(out.payload) <= messageBytes {
		return event
	}
	if size := proto.Size(event); size > messageBytes {
		return s.errorEvent(outgrown(op, size))
	}
	return event
}

// outgrown is the error in place of a result that no message carries. What was changed stays changed, and is said to be.
func outgrown(op *spec, size int) error {
	if op.kind == toolv1.ToolKind_TOOL_KIND_RESOURCE {
		return Failed("%s was carried out; only its result, of %d bytes, does not fit into one message, which carries at most %d: look at what changed instead of calling again", op.name, size, messageBytes)
	}
	return Failed("%s: the result has %d bytes and one message carries at most %d; ask for less at a time", op.name, size, messageBytes)
}

// errorEvent is err as an event. What must not be sent goes before anything is cut, which could leave a part of it.
func (s *server) errorEvent(err error) *toolv1.ToolEvent {
	e := asError(err).proto()
	if !s.secrets.Empty() {
		e = secret.Clean(s.secrets, e)
	}
	return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: bounded(e, messageBytes)}}
}

// uncancelled is err for a call that nobody cancelled: a context that the function made and ended itself is no
// cancellation, and a kernel would not show it as the failure that it is.
func uncancelled(err error) error {
	var known *Error
	if errors.As(err, &known) || !errors.Is(err, context.Canceled) {
		return err
	}
	return &Error{Category: CategoryUnknown, Message: err.Error() + ", although the call was not cancelled", Err: err}
}

// bounded keeps an error within a limit of bytes: long details are cut, then all of them and the end of the text go.
func bounded(e *toolv1.ToolError, limit int) *toolv1.ToolError {
	if proto.Size(e) <= limit {
		return e
	}
	for _, value := range e.GetDetails().GetFields() {
		if text, ok := value.GetKind().(*structpb.Value_StringValue); ok && len(text.StringValue) > limit/8 {
			text.StringValue = strings.ToValidUTF8(text.StringValue[:limit/8], "") + "…"
		}
	}
	if proto.Size(e) > limit {
		e.Details = looseStruct(map[string]any{"cause": fmt.Sprintf("details of %d bytes were left out", proto.Size(e.GetDetails()))})
	}
	if len(e.GetMessage()) > limit/2 {
		e.Message = strings.ToValidUTF8(e.GetMessage()[:limit/2], "") + "…"
	}
	return e
}
