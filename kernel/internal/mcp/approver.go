package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// approver decides about what the policy leaves open: by what whoever started the server has approved beforehand, else by
// asking the person behind the client. It serves all conversations; whom to ask comes with the context of the call.
type approver struct {
	// patterns are names of operations as in "filesystem.*" or "/release".
	patterns []string
	// patience is how long a person may take for an answer.
	patience time.Duration
}

// asker asks one question of the person behind a client. It returns when ctx is done.
type asker interface {
	ask(ctx context.Context, form *sdk.ElicitParams) (*sdk.ElicitResult, error)
}

// Approve answers for all questions, or fails: then none is approved.
func (a *approver) Approve(ctx context.Context, questions []gate.Question) ([]gate.Answer, error) {
	answers := make([]gate.Answer, len(questions))
	for i, q := range questions {
		if pattern := a.covering(q.PlanItem); pattern != "" {
			answers[i] = gate.Answer{Approved: true, By: "--approve " + pattern}
			continue
		}
		answer, err := a.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		answers[i] = answer
	}
	return answers, nil
}

// Beforehand names the flag of the server: a client has no --yes to give.
func (a *approver) Beforehand(item *planv1.PlanItem) string {
	return fmt.Sprintf("Start agent mcp with --approve '%s'", paint.Line(target(item)))
}

// covering is the pattern that approves an item; empty when none does.
func (a *approver) covering(item *planv1.PlanItem) string {
	for _, pattern := range a.patterns {
		if ok, _ := path.Match(pattern, target(item)); ok {
			return pattern
		}
	}
	return ""
}

// target is an operation as --approve names it: PROVIDER.TOOL or /COMMAND.
func target(item *planv1.PlanItem) string {
	if item.GetProducerCategory() == commonv1.Category_CATEGORY_SLASHCOMMAND {
		return "/" + item.GetOperationName()
	}
	return item.GetProvider() + "." + item.GetOperationName()
}

func (a *approver) ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	c := callIn(ctx)
	if c == nil || c.asker == nil {
		return gate.Answer{}, errors.New("this client cannot ask a person (it does not offer elicitation)")
	}
	c.progress().note("waiting for an approval of " + itemName(q.PlanItem))
	defer c.progress().note("")
	limited, cancel := context.WithTimeoutCause(ctx, a.patience, fmt.Errorf("nobody answered within %s", a.patience))
	defer cancel()
	reply, err := c.asker.ask(limited, form(q))
	switch {
	case ctx.Err() != nil:
		return gate.Answer{}, context.Cause(ctx)
	case limited.Err() != nil:
		return gate.Answer{}, context.Cause(limited)
	case err != nil:
		return gate.Answer{}, err
	case reply == nil:
		return gate.Answer{}, errors.New("the client sent no answer")
	}
	return answered(q, reply, c.client), nil
}

// elicitation asks within a call, as protocol versions before 2026-07-28 have it.
type elicitation struct{ session *sdk.ServerSession }

func (e elicitation) ask(ctx context.Context, form *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	return e.session.Elicit(ctx, form)
}
