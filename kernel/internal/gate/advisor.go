package gate

import planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"

// Advisor is an Approver that knows how an item is approved beforehand where it is asked.
type Advisor interface {
	// Beforehand is the beginning of a sentence, such as "Approve it with --yes".
	Beforehand(item *planv1.PlanItem) string
}

// beforehand says how an item is approved without anybody being asked.
func (g *Gate) beforehand(item *planv1.PlanItem) string {
	if a, ok := g.Approver.(Advisor); ok {
		return a.Beforehand(item)
	}
	return "Approve it with --yes"
}
