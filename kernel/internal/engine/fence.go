package engine

import (
	"fmt"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// enclose takes a call out of the plan that is about what is beyond its fence. What the policy denies is denied as it says.
func (c *call) enclose(plan *gate.Plan, i int) {
	if verdict, decided := plan.Decided(i); decided && !verdict.Allowed {
		return
	}
	r := c.request
	if why := c.turn.session.beyond(r.Operation, r.Arguments, r.Within); why != "" {
		c.outside = true
		plan.Withdraw(i, r.Within.Name, why)
	}
}

// beyond says why a call is not within a fence, or nothing.
func (s *Session) beyond(op Operation, args *structpb.Struct, within *policy.Fence) string {
	if why := within.Stops(policy.Call{Arguments: args, Place: s.gate.Place}, op.Input); why != "" {
		return fmt.Sprintf("%s was not run: %s", op, why)
	}
	return ""
}

// checkWithin holds arguments that were changed at the question to the fence.
func (s *Session) checkWithin(c gate.Call, op Operation) *toolv1.ToolError {
	if why := s.beyond(op, c.Arguments, c.Within); why != "" {
		return host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, "%s", why)
	}
	return nil
}
