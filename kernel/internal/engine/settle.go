package engine

import (
	"context"
	"slices"

	"github.com/agentco/agent/kernel/internal/host"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// warm has the providers of the calls that can be made started beside each other.
func (t *turn) warm() {
	for _, c := range t.calls {
		p, err := t.session.engine.provider(c.request.Operation.Provider)
		if err == nil && !p.Begun() && t.session.check(c.request) == nil {
			p.Warm()
		}
	}
}

// settle makes a call one that can be judged. It reports whether the call goes on.
func (c *call) settle(ctx context.Context) bool {
	request, status, err := c.turn.session.settled(ctx, c.request)
	switch {
	case err != nil && status == Crashed && ctx.Err() != nil:
		c.cancelled(context.Cause(ctx))
	case err != nil && status == Crashed:
		c.fail(Crashed, err)
	case err != nil:
		c.refuse(err)
	}
	c.request = request
	return err == nil
}

// settled is a request whose arguments fit, and whose operation is what the provider itself says it is: it is started for
// that when it never was. Remembered operations will do to refuse a call, never to approve one.
func (s *Session) settled(ctx context.Context, r Request) (Request, Status, *toolv1.ToolError) {
	if err := s.check(r); err != nil {
		return r, Failed, err
	}
	p, err := s.engine.provider(r.Operation.Provider)
	if err == nil && !p.Begun() {
		err = p.Ready(ctx)
	}
	if err != nil {
		status, failure := unready(r.Operation, err)
		return r, status, failure
	}
	op, offered := offeredBy(p, r.Operation)
	switch {
	case !offered:
		return r, Failed, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND,
			"%s was not run: provider %q does not have it (any more): see what there is, and call again", r.Operation, p.name)
	case op == r.Operation:
		return r, "", nil
	}
	r.Operation = op
	if err := s.check(r); err != nil {
		return r, Failed, err
	}
	return r, "", nil
}

// unready is how a call ends whose provider does not start. One that refuses its configuration has not crashed, and no other
// arguments and no other attempt will help.
func unready(op Operation, err error) (Status, *toolv1.ToolError) {
	if configFailed(err) {
		return Failed, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED,
			"%s was not run: its configuration has to be put right first: %v", op, err)
	}
	return Crashed, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED, "%s was not run: %v", op, err)
}

// offeredBy is an operation as its provider has it now.
func offeredBy(p provider, op Operation) (Operation, bool) {
	operations := p.Operations()
	i := slices.IndexFunc(operations, func(o Operation) bool { return o.Category == op.Category && o.Name == op.Name })
	if i < 0 {
		return op, false
	}
	return operations[i], true
}
