package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// previewTimeout is how long a provider may think about a preview before the arguments are shown in its place.
const previewTimeout = 5 * time.Second

// Verdict is what became of one call.
type Verdict struct {
	Allowed bool
	// By says who or what decided.
	By string
	// Reason says why the call was denied and what would allow it; empty when it is allowed.
	Reason string
	// Refusal is set when the provider refused the call at its preview, so that nothing had to be decided.
	Refusal *toolv1.ToolError
	// Item is the call as it stood in the plan; nil when it was not asked about.
	Item *planv1.PlanItem
	// Arguments are those that the call was given when it was asked about; nil when it is as it was.
	Arguments *structpb.Struct
}

// Plan is the calls of one turn, decided as far as the policy goes.
type Plan struct {
	gate     *Gate
	calls    []Call
	verdicts []Verdict
	open     []int // the calls that must be asked about
}

// Review asks the policy about every call.
func (g *Gate) Review(calls []Call) *Plan {
	p := &Plan{gate: g, calls: calls, verdicts: make([]Verdict, len(calls))}
	for i, c := range calls {
		d := g.rules().Decide(g.forPolicy(c))
		if d.Warning != "" && g.Log != nil {
			g.Log.Warn(d.Warning)
		}
		p.verdicts[i].By = d.By
		switch d.Action {
		case policy.Allow:
			p.verdicts[i].Allowed = true
		case policy.Ask:
			if grant := g.granted(c); grant != nil {
				p.verdicts[i] = Verdict{Allowed: true, By: "granted for this session: " + grant.String()}
				continue
			}
			p.open = append(p.open, i)
		default:
			p.verdicts[i].Reason = denial(c, d)
		}
	}
	return p
}

// Decided returns the verdict on a call, and whether there is one before anybody is asked.
func (p *Plan) Decided(i int) (Verdict, bool) {
	for _, open := range p.open {
		if open == i {
			return Verdict{}, false
		}
	}
	return p.verdicts[i], true
}

// Open is how many calls must be asked about.
func (p *Plan) Open() int { return len(p.open) }

// Ask makes the items of the plan, with their previews, has them approved, and returns the verdicts on all calls.
// Whatever goes wrong, what was not clearly approved is denied.
func (p *Plan) Ask(ctx context.Context) []Verdict {
	var asked []int
	var questions []Question
	for _, i := range p.open {
		q, refusal := p.gate.question(ctx, p.calls[i], p.verdicts[i].By)
		if refusal != nil {
			p.verdicts[i] = Verdict{Refusal: refusal}
			continue
		}
		asked, questions = append(asked, i), append(questions, q)
	}
	if len(questions) > 0 {
		p.ask(ctx, asked, questions)
	}
	return p.verdicts
}

// ask has the questions about the calls asked answered.
func (p *Plan) ask(ctx context.Context, asked []int, questions []Question) {
	answers, problem := p.gate.answers(ctx, questions)
	for n, i := range asked {
		q, a := questions[n].answered(answers[n])
		v := settle(q, a, problem)
		if !proto.Equal(q.call.Arguments, p.calls[i].Arguments) {
			v.Arguments = q.call.Arguments
		}
		if v.Allowed && a.Session && q.Offer != nil {
			p.gate.remember(q.Offer)
		}
		p.verdicts[i] = v
	}
}

// item is a snapshot: what is approved is what was shown.
func (g *Gate) item(ctx context.Context, c Call, by string) (*planv1.PlanItem, *RefusalError) {
	var preview *renderv1.RenderTree
	if !g.unseen() {
		var err *RefusalError
		if preview, err = g.preview(ctx, c); err != nil {
			return nil, err
		}
	}
	return &planv1.PlanItem{
		Id: ulid.Make().String(), CallId: c.ID, Provider: c.Provider, OperationName: c.Operation,
		Input: proto.CloneOf(c.Arguments), Decision: planv1.PlanDecision_PLAN_DECISION_ASK, DecidedBy: by,
		Kind: c.Kind, Risk: c.Risk, Description: c.Description, ProducerCategory: c.Category,
		Preview: preview,
	}, nil
}

// preview is what somebody gets to see of a call.
func (g *Gate) preview(ctx context.Context, c Call) (*renderv1.RenderTree, *RefusalError) {
	tree, refusal := g.described(ctx, c)
	if refusal != nil || c.Deadline == 0 {
		return tree, refusal
	}
	return withDeadline(tree, c.Deadline), nil
}

// described is what the provider says that a call would do, or else its arguments.
func (g *Gate) described(ctx context.Context, c Call) (*renderv1.RenderTree, *RefusalError) {
	if g.Preview == nil {
		return Pretty(c.Arguments), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, previewTimeout, fmt.Errorf("it took longer than %s", previewTimeout))
	defer cancel()
	tree, err := g.Preview(ctx, c)
	var refusal *RefusalError
	switch {
	case errors.As(err, &refusal) && c.Later:
		return withoutPreview(c, fmt.Errorf("%w (calls before it may change that)", err)), nil
	case errors.As(err, &refusal):
		return nil, refusal
	case ctx.Err() != nil:
		return withoutPreview(c, context.Cause(ctx)), nil
	case err != nil:
		return withoutPreview(c, err), nil
	case tree == nil:
		return Pretty(c.Arguments), nil
	default:
		return tree, nil
	}
}

// answers has the items approved. Without usable answers it says what the problem is, and every answer is a no.
func (g *Gate) answers(ctx context.Context, questions []Question) (answers []Answer, problem string) {
	no := make([]Answer, len(questions))
	if g.Approver == nil {
		return no, "it needs an approval and there is nobody to give it"
	}
	answers, err := g.ask(ctx, questions)
	switch {
	case err != nil:
		return no, fmt.Sprintf("it needs an approval and asking for it failed: %v", err)
	case ctx.Err() != nil:
		return no, "it needs an approval and the turn was stopped before there was one"
	case len(answers) != len(questions):
		return no, fmt.Sprintf("it needs an approval and %d answers came for %d questions", len(answers), len(questions))
	}
	return answers, ""
}

// ask keeps a fault of the approver from passing for an approval, or from ending the kernel.
func (g *Gate) ask(ctx context.Context, questions []Question) (answers []Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			answers, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	return g.Approver.Approve(ctx, questions)
}

func settle(q Question, a Answer, problem string) Verdict {
	c, item := q.call, q.PlanItem
	v := Verdict{Allowed: problem == "" && a.Approved, By: a.By, Item: item}
	if v.By == "" {
		v.By = item.GetDecidedBy()
	}
	item.DecidedBy, item.Decision = v.By, planv1.PlanDecision_PLAN_DECISION_ALLOW
	if v.Allowed {
		return v
	}
	item.Decision = planv1.PlanDecision_PLAN_DECISION_DENY
	switch {
	case problem != "":
		v.Reason = fmt.Sprintf("%s was not run: %s. %s", c, problem, q.remedy())
	case a.Reason != "":
		v.Reason = fmt.Sprintf("%s was not run: %s", c, a.Reason)
	default:
		v.Reason = fmt.Sprintf("%s was not run: it was not approved", c)
	}
	return v
}

// remedy says how to let the call run without anybody to ask. A policy about a shell is about what it is to run.
func (q Question) remedy() string {
	c := q.call
	match := policy.Match{Provider: c.Provider, ToolName: c.Operation}
	_, shell := c.Arguments.GetFields()["command"]
	beforehand := q.gate.beforehand(q.PlanItem)
	offer := q.gate.grantFor(c)
	switch {
	case q.gate.forPolicy(c).DecidingFile() != "":
		return beforehand + "; a policy allows changes of files that decide what runs only when its arguments name the file"
	case shell && offer == nil:
		return beforehand + "; no policy can tell this command from others"
	case shell:
		match = offer.Match
	}
	return fmt.Sprintf(`%s, or let it run always with a policy in agent.hcl:
policy "allow-%s" {
  match  = { %s }
  action = "allow"
}`, beforehand, c.Operation, match)
}
