package gate

import (
	"context"
	"fmt"

	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// question makes the item of a call that has to be asked about, unless its provider refuses it.
func (g *Gate) question(ctx context.Context, c Call, by string) (Question, *toolv1.ToolError) {
	item, refusal := g.item(ctx, c, by)
	if refusal != nil {
		return Question{}, refusal.Reason
	}
	q := Question{PlanItem: item, call: c, gate: g}
	if !g.unseen() {
		q.Offer = g.grantFor(c)
	}
	return q, nil
}

// Revise is the question about the same call with other arguments, for an Approver that is being asked. They take the way that those of any call take: what
// does not fit, is denied or refused by the provider is not asked about; the question stands then as it was, with what
// is the matter. What the policy would allow is asked about all the same, since somebody is in the middle of it.
func (q Question) Revise(ctx context.Context, args *structpb.Struct) Question {
	g := q.gate
	q.Problem = ""
	c := q.call
	c.Arguments = proto.CloneOf(args)
	if g.Check != nil {
		if err := g.Check(c); err != nil {
			return q.despite(err.GetMessage())
		}
	}
	d := g.rules().Decide(g.forPolicy(c))
	if d.Action != policy.Allow && d.Action != policy.Ask {
		return q.despite(denial(c, d))
	}
	revised, refusal := g.question(ctx, c, d.By)
	if refusal != nil {
		return q.despite(refusal.GetMessage())
	}
	revised.Id = q.GetId()
	return revised
}

// answered is the question that an answer is about. One that is about another call's is a no.
func (q Question) answered(a Answer) (Question, Answer) {
	switch r := a.Revised; {
	case r == nil:
		return q, a
	case r.gate != q.gate || r.call.ID != q.call.ID:
		return q, Answer{By: a.By, Reason: "the answer was about another call"}
	default:
		return *r, a
	}
}

func (q Question) despite(problem string) Question {
	q.Problem = problem
	return q
}

// denial says that a policy does not let a call run, and why.
func denial(c Call, d policy.Decision) string {
	text := fmt.Sprintf("%s was not run: %s denies it", c, d.By)
	if d.Why != "" {
		text += ": " + d.Why
	}
	return text
}
