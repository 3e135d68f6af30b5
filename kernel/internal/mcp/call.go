package mcp

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/proto"
)

// call is one call on its way. From protocol version 2026-07-28 on it outlasts the request that made it: when a person
// has to be asked, the request is answered with the question, and the client comes back with another that holds the
// answer.
type call struct {
	request engine.Request
	client  string
	asker   asker           // nil when the client cannot ask
	within  within          // nil when the client need not be asked for its roots
	ctx     context.Context // of the call, whatever requests there are about it
	cancel  context.CancelCauseFunc
	unbind  func() bool
	shown   atomic.Pointer[progress] // of the request that waits now
	printed tail

	questions chan *sdk.ElicitParams // to the request that waits now
	answers   chan *sdk.ElicitResult // from the one that came back
	done      chan ending            // holds the one end
}

// ending is how a call ended, and the last of what it printed.
type ending struct {
	engine.Outcome
	printed string
}

type callKey struct{}

// callIn is the call that a context belongs to; nil when it belongs to none.
func callIn(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// progress is where to tell of the call at the moment.
func (c *call) progress() *progress { return c.shown.Load() }

// run makes the call, and returns how it ended when it is over.
func (c *call) run(session *engine.Session) (status engine.Status) {
	defer c.cancel(nil)
	defer c.unbind()
	defer func() { // a fault of ours must not end the process, and with it the calls of everybody else
		if fault := recover(); fault != nil {
			status = engine.Failed
			c.done <- ending{Outcome: faulty(c.request.Operation, fault)}
		}
	}()
	if c.within != nil {
		c.request.Within = c.within(c.ctx)
	}
	outcome := session.Invoke(context.WithValue(c.ctx, callKey{}, c), c.request, func(e *toolv1.ToolEvent) {
		if chunk := e.GetOutputChunk(); chunk != nil {
			c.printed.write(chunk)
		}
		c.progress().event(e)
	})
	c.done <- ending{outcome, c.printed.text()}
	return outcome.Status
}

// unserved is the end of a call that was not even begun.
func unserved(op engine.Operation, why error) ending {
	return ending{Outcome: engine.Outcome{Operation: op.String(), Status: engine.Failed, Error: &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, Message: fmt.Sprintf("%s was not run: %v", op, why),
	}}}
}

func faulty(op engine.Operation, fault any) engine.Outcome {
	return engine.Outcome{Operation: op.String(), Status: engine.Failed, Error: &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN,
		Message:  fmt.Sprintf("%s met a fault of the kernel, so that it is not known what it has done: %v", op, fault),
	}}
}

// same reports whether a request that comes back is about the call that was asked about.
func (c *call) same(r engine.Request) bool {
	return c.request.Operation.String() == r.Operation.String() && c.request.Operation.Provider == r.Operation.Provider &&
		proto.Equal(c.request.Arguments, r.Arguments)
}

// rounds asks by answering the request that waits with the question.
type rounds struct{ call *call }

func (r rounds) ask(ctx context.Context, form *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	select {
	case r.call.questions <- form:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case answer := <-r.call.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
