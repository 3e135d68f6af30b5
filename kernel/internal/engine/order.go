package engine

import (
	"cmp"
	"context"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// mayBegin waits for the calls that this one comes after. When one of them had no good end, or ctx is done, the call is
// over, and may not.
func (c *call) mayBegin(ctx context.Context) bool {
	for _, before := range c.after {
		select {
		case <-before.over:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			c.cancelled(context.Cause(ctx))
			return false
		}
		if !before.outcome.Good() {
			c.outcome.SkippedFor = before.outcome.CallID
			c.fail(Skipped, host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
				"%s was not run: it comes after %s, which %s", c.outcome.Operation, before.outcome.Operation, before.outcome.Ending()))
			return false
		}
	}
	return true
}

// announced tells whoever wants to know that the call is about to be made.
func (c *call) announced() *toolv1.ToolError {
	if c.request.Began == nil {
		return nil
	}
	if err := c.request.Began(); err != nil {
		return host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, "%s was not run: %v", c.outcome.Operation, err)
	}
	return nil
}

// checkRevised holds arguments that were changed at the question to the schema of their operation, and to the fence.
func (s *Session) checkRevised(c gate.Call) *toolv1.ToolError {
	for _, op := range s.engine.Operations() {
		if op.Provider == c.Provider && op.Category == c.Category && op.Name == c.Operation {
			return cmp.Or(checkArguments(op, c.Arguments), s.checkWithin(c, op))
		}
	}
	return host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "%s is not there any more", c)
}
