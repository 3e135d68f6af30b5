package plan

import (
	"bytes"
	"fmt"
	"slices"

	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// Change is one thing that is not as it was when a plan was made.
type Change struct {
	// Call is the name of the call it is about; empty when it is about all of them.
	Call string `json:"call,omitempty"`
	// What is project, profile, policy, config, provider, calls, operation, arguments, timeout, order, preview or decision.
	What string `json:"what"`
	// Text says what it was, and what it is now.
	Text string `json:"text"`
}

// Changes compares a plan with a fresh one of the same calls. No change means that what is done is what was shown.
func (p *Plan) Changes(fresh *Plan) []Change {
	changes := p.surroundings(fresh)
	for _, was := range p.Calls {
		i := slices.IndexFunc(fresh.Calls, func(c Call) bool { return c.Name == was.Name })
		if i < 0 {
			changes = append(changes, Change{was.Name, "operation", "it is not there any more"})
			continue
		}
		found := itemChanges(was, fresh.Calls[i])
		if len(found) == 0 && len(changes) == 0 && was.Digest != fresh.Calls[i].Digest {
			found = []Change{{was.Name, "operation", "its digest is another"}}
		}
		changes = append(changes, found...)
	}
	return changes
}

func (p *Plan) surroundings(fresh *Plan) (changes []Change) {
	note := func(what, was, is string) {
		if was != is {
			changes = append(changes, Change{What: what, Text: fmt.Sprintf("was %s, is %s", was, is)})
		}
	}
	note("project", p.Project, fresh.Project)
	note("project", p.WorkingDir, fresh.WorkingDir)
	note("profile", profile(p.Profile), profile(fresh.Profile))
	switch {
	case p.Policy != fresh.Policy:
		changes = append(changes, Change{What: "policy", Text: "the policies of agent.hcl are others"})
	case p.Config != fresh.Config:
		changes = append(changes, Change{What: "config", Text: "agent.hcl has changed"})
	}
	for _, was := range p.Providers {
		i := slices.IndexFunc(fresh.Providers, func(other Provider) bool { return other.Name == was.Name })
		switch {
		case i < 0:
			changes = append(changes, Change{What: "provider", Text: was.Name + " is not there any more"})
		case was.Version != fresh.Providers[i].Version:
			note("provider", was.Name+" "+was.Version, fresh.Providers[i].Version)
		case was.Checksum != fresh.Providers[i].Checksum:
			changes = append(changes, Change{What: "provider", Text: fmt.Sprintf("%s %s is another binary", was.Name, was.Version)})
		}
	}
	return changes
}

func profile(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// itemChanges compares a call with what it is now.
func itemChanges(was, is Call) (changes []Change) {
	differ := func(what, text string, of func(*planv1.PlanItem) any) {
		if !same(of(was.Item.PlanItem), of(is.Item.PlanItem)) {
			changes = append(changes, Change{was.Name, what, text})
		}
	}
	differ("arguments", "they are others", func(i *planv1.PlanItem) any { return Item{&planv1.PlanItem{Input: i.GetInput()}} })
	differ("preview", "it would do something else now", func(i *planv1.PlanItem) any { return Item{&planv1.PlanItem{Preview: i.GetPreview()}} })
	differ("decision", "the policies decide otherwise", func(i *planv1.PlanItem) any {
		return Item{&planv1.PlanItem{Decision: i.GetDecision(), DecidedBy: i.GetDecidedBy()}}
	})
	differ("operation", "its provider declares it otherwise", func(i *planv1.PlanItem) any {
		return Item{&planv1.PlanItem{
			Provider: i.GetProvider(), OperationName: i.GetOperationName(), ProducerCategory: i.GetProducerCategory(),
			Kind: i.GetKind(), Risk: i.GetRisk(), Description: i.GetDescription(),
		}}
	})
	return changes
}

func same(a, b any) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
