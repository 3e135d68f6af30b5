package engine

import (
	"context"

	"github.com/agentco/agent/kernel/internal/gate"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Explanation is what would become of a call, and why.
type Explanation = gate.Explanation

// Explain says what would become of a call: what the policy says, and what its provider does when it is asked for a
// preview, within five seconds. Nothing is run and nobody is asked. The error is what is wrong with the request itself.
func (e *Engine) Explain(ctx context.Context, r Request) (Explanation, *toolv1.ToolError) {
	if err := e.check(r); err != nil {
		return Explanation{}, err
	}
	return e.gate.Explain(ctx, forGate(callID(r.Operation), r)), nil
}
