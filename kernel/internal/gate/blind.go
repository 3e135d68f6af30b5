package gate

import (
	"context"

	"google.golang.org/protobuf/proto"

	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// blind is an Approver that looks at no preview and takes no offer, so that none need be made.
type blind interface{ blind() }

// unseen reports whether nobody looks at the questions of the gate.
func (g *Gate) unseen() bool {
	_, unseen := g.Approver.(blind)
	return unseen
}

// ApproveAll approves every item without asking, in the name of by, such as "--yes". Nobody looks at previews then,
// so none are made.
func ApproveAll(by string) Approver { return blanket(by) }

type blanket string

func (blanket) blind() {}

func (by blanket) Approve(_ context.Context, questions []Question) ([]Answer, error) {
	answers := make([]Answer, len(questions))
	for i := range answers {
		answers[i] = Answer{Approved: true, By: string(by)}
	}
	return answers, nil
}

// ApproveThese approves the items that were approved before, by the ids of their calls, in the name of by: each only when
// operation and arguments are what they were then. Whoever makes it has looked at the previews.
func ApproveThese(by string, items []*planv1.PlanItem) Approver {
	approved := map[string]*planv1.PlanItem{}
	for _, item := range items {
		approved[item.GetCallId()] = item
	}
	return these{by, approved}
}

type these struct {
	by       string
	approved map[string]*planv1.PlanItem
}

func (these) blind() {}

func (t these) Approve(_ context.Context, questions []Question) ([]Answer, error) {
	answers := make([]Answer, len(questions))
	for i, q := range questions {
		answers[i] = Answer{Approved: sameCall(q.PlanItem, t.approved[q.GetCallId()]), By: t.by, Reason: "it is not what was approved"}
	}
	return answers, nil
}

func sameCall(a, b *planv1.PlanItem) bool {
	return b != nil && a.GetProvider() == b.GetProvider() && a.GetOperationName() == b.GetOperationName() &&
		a.GetProducerCategory() == b.GetProducerCategory() && a.GetKind() == b.GetKind() && proto.Equal(a.GetInput(), b.GetInput())
}
