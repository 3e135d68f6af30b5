package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/plan"
	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// makePlan asks what would become of the calls: what is decided about each, and what its provider says it would do.
// Nothing is run and nobody is asked.
func (a *app) makePlan(p *project, s *engine.Session, source plan.Source, list []listedCall) (*plan.Plan, []refused, error) {
	made := &plan.Plan{
		ID: ulid.Make().String(), MadeAt: time.Now().UTC().Truncate(time.Second), Project: p.Root, WorkingDir: p.cwd,
		Source: source, Policy: policyDigest(p.Policies), Config: plan.Digest(p.Text()),
	}
	if p.profile != nil {
		made.Profile = p.profile.Name
	}
	var refusals []refused
	for _, c := range list {
		item, refusal := planItem(a.ctx, s, c.request)
		if a.ctx.Err() != nil {
			return nil, nil, context.Cause(a.ctx)
		}
		if refusal != nil {
			refusals = append(refusals, refused{c.name, refusal})
		}
		call := plan.Call{Name: c.name, TimeoutMS: c.request.Timeout.Milliseconds(), Item: plan.Item{PlanItem: item}}
		for _, before := range c.request.After {
			call.After = append(call.After, list[before].name)
		}
		made.Calls = append(made.Calls, call)
	}
	var err error
	if made.Providers, err = binaries(s.Engine(), list); err != nil {
		return nil, nil, err
	}
	return made, refusals, made.Seal()
}

// refused is a call that its provider says cannot succeed.
type refused struct {
	call   string
	reason *toolv1.ToolError
}

var decisions = map[policy.Action]planv1.PlanDecision{
	policy.Allow: planv1.PlanDecision_PLAN_DECISION_ALLOW, policy.Ask: planv1.PlanDecision_PLAN_DECISION_ASK, policy.Deny: planv1.PlanDecision_PLAN_DECISION_DENY,
}

// planItem is a call as it would be shown. What only reads has no preview: it changes nothing, and finds what it finds.
func planItem(ctx context.Context, s *engine.Session, r engine.Request) (*planv1.PlanItem, *toolv1.ToolError) {
	op := r.Operation
	item := &planv1.PlanItem{
		Id: ulid.Make().String(), CallId: r.CallID, Provider: op.Provider, OperationName: op.Name, Input: r.Arguments,
		Kind: op.Kind, Risk: op.Risk, Description: op.Description, ProducerCategory: op.Category,
		Decision: planv1.PlanDecision_PLAN_DECISION_DENY,
	}
	decision, _, problem := s.Decide(r)
	if problem != nil {
		item.DecidedBy = problem.GetMessage()
		return item, nil
	}
	item.Decision, item.DecidedBy = decisions[decision.Action], decision.By
	if op.Kind == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE || decision.Action == policy.Deny {
		return item, nil
	}
	x, problem := s.Explain(ctx, r)
	if problem != nil {
		return item, problem
	}
	item.Preview = x.Preview
	return item, x.Refusal
}

// binaries identifies the providers that the calls go to.
func binaries(e *engine.Engine, list []listedCall) ([]plan.Provider, error) {
	var providers []plan.Provider
	for _, info := range e.Providers() {
		if !slices.ContainsFunc(list, func(c listedCall) bool { return c.request.Operation.Provider == info.Name }) {
			continue
		}
		binary, err := catalogue.Default().Identify(info.Path)
		if err != nil {
			return nil, fmt.Errorf("cannot tell which binary provider %q is: %w", info.Name, err)
		}
		p := plan.Provider{Name: info.Name, Checksum: binary.Checksum}
		if len(info.Producers) > 0 {
			p.Version = info.Producers[0].GetVersion()
		}
		providers = append(providers, p)
	}
	return providers, nil
}

// policyDigest stands for what the policies say, wherever they stand.
func policyDigest(rules []policy.Rule) string {
	said := make([][3]string, len(rules))
	for i, r := range rules {
		said[i] = [3]string{r.Name, r.Match.String(), r.Action.String()}
	}
	text, _ := json.Marshal(said) // text can always be marshalled
	return plan.Digest(text)
}
