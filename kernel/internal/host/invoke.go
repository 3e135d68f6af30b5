package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentco/agent/kernel/internal/schema"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// closePatience is how long a provider may keep a stream open after its last event.
const closePatience = 2 * time.Second

// Ending is how a call ended, as far as the provider is concerned.
type Ending int

// Every way a call ends.
const (
	// Completed: Reply.Payload is the result, and fits what the operation declares.
	Completed Ending = iota + 1
	// Failed: Reply.Error is what the provider said, or what was wrong with how it said it.
	Failed
	// Cancelled: the context ended first. Reply.Report is set when the provider reported.
	Cancelled
	// Crashed: the process died, or could not be started again.
	Crashed
)

// Reply is how a call ended.
type Reply struct {
	Ending  Ending
	Payload *structpb.Struct
	// Encoded is Payload as codec.Marshal encodes it; empty when that is not known.
	Encoded string
	// Rendering is how to show Payload, when the call asked for that and the provider sent it along; else nil.
	Rendering *renderv1.RenderTree
	// Kept is set when it sent word instead that it keeps it.
	Kept       *Kept
	Error      *toolv1.ToolError // set unless Ending is Completed
	ExitStatus *toolv1.ToolEvent_ExitStatus
	Report     *Report
	// Crash numbers what the call was lost with: it is the same for all calls that one death, or one start that failed, has
	// cost, and a later one's is higher. Zero: there was none, since the process was ended by us, or not even started.
	Crash int64
}

// Invoke runs a call. show receives every event but the last, result or error, which the Reply holds; it is called
// from this goroutine, and the provider waits for it. When ctx is done the call is cancelled, and Invoke waits for
// what the provider reports, which show receives as events too.
func (p *Provider) Invoke(ctx context.Context, call Call, show func(*toolv1.ToolEvent)) Reply {
	if ctx.Err() != nil {
		return notBegun(call)
	}
	l, err := p.ready(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return notBegun(call)
	case err != nil:
		return crashed(crashOf(err), "%s was not run: %v", call.Operation, err)
	}
	return l.invoke(ctx, call, show)
}

func (l *life) invoke(ctx context.Context, call Call, show func(*toolv1.ToolEvent)) Reply {
	service, err := find(l.serves, call.Operation.Category)
	if err != nil {
		return Reply{Ending: Failed, Error: unknown(err.Error(), "%s was not run: %v", call.Operation, err)}
	}
	reports, forget := l.callbacks.expect(call.ID)
	defer forget()
	defer l.announcer.begin()()
	// The stream must not end with ctx by itself: that a call was cancelled is told from how else it could have ended.
	rpc, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	var g grammar
	events, trailer, err := service.invoke(asking(numbered(rpc, call), call), call)
	if err == nil {
		err = receive(&g, events, cancel, show)
	}
	reply := l.conclude(ctx, call, &g, err)
	if reply.Ending == Completed && call.Render {
		sent := trailer()
		reply.Rendering, reply.Kept = sentAlong(sent), keptFor(call, service, sent)
	}
	if reply.Ending == Cancelled {
		reply = l.awaitReport(call, reports, show)
	}
	reply.ExitStatus = g.exit
	return reply
}

// errGrammar is what a provider did with the stream that it must not.
type errGrammar struct{ cause error }

func (e errGrammar) Error() string { return e.cause.Error() }

// receive takes events until the stream ends: with io.EOF after the last event as it should, otherwise with what went
// wrong.
func receive(g *grammar, events next, cancel func(), show func(*toolv1.ToolEvent)) error {
	for {
		event, encoded, err := events()
		if err != nil {
			return err
		}
		visible, err := g.accept(event)
		if err != nil {
			return errGrammar{err}
		}
		if visible {
			show(event)
		}
		if g.over() {
			g.encoded = encoded
			defer time.AfterFunc(closePatience, cancel).Stop()
		}
	}
}

// conclude decides how a call ended from the events it had and the error its stream ended with.
func (l *life) conclude(ctx context.Context, call Call, g *grammar, err error) Reply {
	var broken errGrammar
	switch {
	case errors.As(err, &broken):
		return Reply{Ending: Failed, Error: l.violation(call, broken)}
	case g.result != nil:
		return l.result(call, g.result.GetPayload(), g.encoded)
	case g.failed != nil:
		return l.failure(ctx, call, g.failed)
	case ctx.Err() != nil:
		return Reply{Ending: Cancelled}
	case errors.Is(err, io.EOF):
		return Reply{Ending: Failed, Error: l.violation(call, errors.New("it ended the stream without a result or an error"))}
	case l.leaving.Load(), lost(err) && l.disconnected():
		return l.death(call, err)
	default:
		return l.failure(ctx, call, toolError(call.Operation.String(), err))
	}
}

// result is the end of a call with a result, which is held to what its operation declares.
func (l *life) result(call Call, payload *structpb.Struct, encoded string) Reply {
	problems := schema.Arguments(call.Operation.Output, payload)
	if len(problems) == 0 {
		return Reply{Ending: Completed, Payload: payload, Encoded: encoded}
	}
	if err := checkValue("a result", payload); err != nil {
		return Reply{Ending: Failed, Error: l.violation(call, err)}
	}
	cause := schema.Describe(problems)
	l.callbacks.log.Warn("the provider broke its own output schema", "operation", call.Operation.String(), "cause", cause)
	return Reply{Ending: Failed, Error: unknown(cause, "%s ran, but its result does not fit what it declares, which its author has to correct: %s", call.Operation, cause)}
}

// disconnected reports whether the connection has ended, which may be known a moment after a call has failed for it.
// Otherwise it is the provider itself that says that something is not there.
func (l *life) disconnected() bool {
	timer := time.NewTimer(crashPatience)
	defer timer.Stop()
	select {
	case <-l.severed:
		return true
	case <-l.process.ended:
		return true
	case <-timer.C:
		return false
	}
}

// failure is the end of a call with an error of its provider.
func (l *life) failure(ctx context.Context, call Call, err *toolv1.ToolError) Reply {
	switch {
	case err.GetCategory() != toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED:
		return Reply{Ending: Failed, Error: err}
	case ctx.Err() != nil:
		return Reply{Ending: Cancelled}
	default:
		return l.gaveUp(ctx, call, err)
	}
}

// gaveUp is the end of a call that its provider has cancelled and nobody else: the provider is about to end, since somebody
// has told it to, as soon as the other calls have been put right too, or it says what it must not.
func (l *life) gaveUp(ctx context.Context, call Call, said *toolv1.ToolError) Reply {
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	cause := fmt.Errorf("it says that the call was cancelled, and nobody has cancelled it (%s)", quoted(said.GetMessage()))
	select {
	case <-l.process.ended:
		return l.death(call, cause)
	case <-ctx.Done():
		return Reply{Ending: Cancelled}
	case <-timer.C:
		return Reply{Ending: Failed, Error: l.violation(call, cause)}
	}
}

func (l *life) violation(call Call, cause error) *toolv1.ToolError {
	l.callbacks.log.Warn("the provider broke the protocol", "operation", call.Operation.String(), "cause", cause.Error())
	return unknown(cause.Error(), "%s: the provider broke the protocol, so its answer cannot be relied on: %v", call.Operation, cause)
}
