package gate

import (
	"context"

	"github.com/agentco/agent/kernel/internal/policy"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Explanation is what would become of a call, and why.
type Explanation struct {
	policy.Decision
	// Rules is what became of every rule, in the order of agent.hcl.
	Rules []policy.Judged
	// Preview is what a person would be shown; nil when Refusal is set.
	Preview *renderv1.RenderTree
	// Refusal is what the provider has against the call, whatever is decided.
	Refusal *toolv1.ToolError
}

// Decide asks the policy about one call, and what became of every rule.
func (g *Gate) Decide(c Call) (policy.Decision, []policy.Judged) {
	return g.rules().Explain(g.forPolicy(c))
}

// Explain is Decide, with the preview of the call. Nobody is asked.
func (g *Gate) Explain(ctx context.Context, c Call) Explanation {
	var e Explanation
	e.Decision, e.Rules = g.Decide(c)
	tree, err := g.preview(ctx, c)
	if err != nil {
		e.Refusal = err.Reason
		return e
	}
	e.Preview = tree
	return e
}
