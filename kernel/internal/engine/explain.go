package engine

import (
	"context"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Explanation is what would become of a call, and why.
type Explanation = gate.Explanation

// Decide says what the policy says about a call, and what became of every rule; of a provider that has not been started,
// going by what is remembered of it. The error is what is wrong with the request itself.
func (s *Session) Decide(r Request) (policy.Decision, []policy.Judged, *toolv1.ToolError) {
	if err := s.check(r); err != nil {
		return policy.Decision{}, nil, err
	}
	decision, rules := s.gate.Decide(s.forGate("", r))
	return decision, rules, nil
}

// Explain is Decide, with what the provider does when it is asked for a preview, within five seconds. Nothing is run
// and nobody is asked.
func (s *Session) Explain(ctx context.Context, r Request) (Explanation, *toolv1.ToolError) {
	r, _, err := s.settled(ctx, r)
	if err != nil {
		return Explanation{}, err
	}
	return s.gate.Explain(ctx, s.forGate(NewCallID(r.Operation), r)), nil
}
