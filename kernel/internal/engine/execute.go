package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/schedule"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// errDeadline is the cause of a cancellation that the kernel's own deadline made.
var errDeadline = errors.New("the deadline passed")

// execute waits for the call's turn and runs it, again where that may help. All attempts share one deadline.
func (c *call) execute(ctx context.Context) {
	op := c.request.Operation
	release, err := c.acquire(ctx, schedule.Never)
	if err != nil {
		c.cancelled(err)
		return
	}
	defer release()
	p, err := c.turn.session.engine.provider(op.Provider)
	if err != nil {
		c.fail(Failed, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "%v", err))
		return
	}
	if err := cmp.Or(c.recorded(ctx), c.announced()); err != nil && ctx.Err() != nil {
		c.cancelled(context.Cause(ctx)) // in the wait for the log
		return
	} else if err != nil {
		c.fail(Failed, err)
		return
	}
	c.plan()
	limit := p.limit(c.request)
	limited, cancel := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer cancel()
	begin := time.Now()
	c.outcome.Waited = begin.Sub(c.turn.began)
	reply, stopped := c.attempts(limited, p, release)
	c.outcome.Took = time.Since(begin)
	c.outcome.ExitStatus, c.outcome.Report, c.crash = reply.ExitStatus, reply.Report, reply.Crash
	late := errors.Is(context.Cause(limited), errDeadline)
	if stopped != nil && !late {
		c.fail(Cancelled, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
			"%s was cancelled before it was tried again (%v); the last attempt failed: %s", op, stopped, reply.Error.GetMessage()))
		return
	}
	c.judge(reply, late, limit)
}

// limit is the deadline of a call.
func (p provider) limit(r Request) time.Duration {
	return schedule.Timeout(r.Timeout, p.timeout, r.Operation.Timeout)
}

// shortened is the deadline of a call that has less time than its operation asks for; zero when it has not.
func (e *Engine) shortened(r Request) time.Duration {
	p, err := e.provider(r.Operation.Provider)
	if limit := p.limit(r); err == nil && limit < schedule.Timeout(0, 0, r.Operation.Timeout) {
		return limit
	}
	return 0
}

// acquire waits until the call may run beside the others.
func (c *call) acquire(ctx context.Context, how schedule.Repeat) (release func(), err error) {
	op := c.request.Operation
	claim := schedule.ClaimOf(op.Provider, op.Name, op.Kind, op.Concurrency, c.request.Arguments)
	claim.Serialised = how == schedule.Serialised
	return c.turn.session.engine.schedule.Acquire(ctx, claim)
}

// attempts makes the call until it need not be made again, or must not be, and returns the last reply. In between,
// others may run. The error is what stopped it although it should have been made again.
func (c *call) attempts(ctx context.Context, p provider, release func()) (reply host.Reply, stopped error) {
	op, e := c.request.Operation, c.turn.session.engine
	var lost error
	attempt := func(how schedule.Repeat) schedule.Repeat {
		if how != schedule.Never {
			if release, lost = c.acquire(ctx, how); lost != nil {
				return schedule.Never
			}
		}
		defer release()
		c.outcome.Attempts++
		reply = c.attempt(ctx, p)
		return schedule.RepeatOf(op.Kind, op.Idempotent, reply.Error)
	}
	stopped = e.retry.Run(ctx, attempt, func(retry int, wait time.Duration) {
		e.log.Info("a call is made again", "operation", c.outcome.Operation, "call", c.outcome.CallID, "retry", retry, "in", wait, "cause", reply.Error.GetMessage())
		c.show(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: &toolv1.ToolEvent_Progress{
			Message: fmt.Sprintf("%s: %s; retry %d of %d in %s", plainCategory(reply.Error), reply.Error.GetMessage(), retry, e.retry.Max, wait.Round(10*time.Millisecond)),
		}}})
	})
	return reply, cmp.Or(stopped, lost)
}

func (c *call) attempt(ctx context.Context, p provider) host.Reply {
	shown := withheld{set: c.turn.session.engine.secrets, show: c.show}
	reply := p.Invoke(ctx, host.Call{
		ID: c.outcome.CallID, Operation: c.request.Operation, Arguments: c.request.Arguments, Render: c.request.Render, Attempt: c.outcome.Attempts,
		Context: &commonv1.CallContext{SessionId: c.turn.session.id, TurnId: c.turn.id, WorkingDirectory: c.turn.session.workingDir},
	}, shown.event)
	shown.end()
	return withoutSecrets(shown.set, reply)
}

// plainCategory is the category of an error as people read it.
func plainCategory(err *toolv1.ToolError) string {
	return strings.ToLower(strings.TrimPrefix(err.GetCategory().String(), "TOOL_ERROR_CATEGORY_"))
}
