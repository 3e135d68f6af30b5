package mcp

import (
	"fmt"
	"strings"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What can be answered to a question.
const (
	fieldDecision = "decision"
	decideApprove = "approve"
	decideDeny    = "deny"
	fieldScope    = "scope"
	scopeOnce     = "once"
	scopeSession  = "session"
)

// form is a question as a client shows it to a person.
func form(q gate.Question) *sdk.ElicitParams {
	properties := map[string]any{
		fieldDecision: map[string]any{
			"type": "string", "title": "Decision", "description": "Whether " + itemName(q.PlanItem) + " may run.",
			"enum": []string{decideApprove, decideDeny},
		},
	}
	if q.Offer != nil {
		properties[fieldScope] = map[string]any{
			"type": "string", "title": "Scope", "enum": []string{scopeOnce, scopeSession}, "default": scopeOnce,
			"description": "once: this call. session: also " + paint.Line(q.Offer.String()) + ", until the session ends.",
		}
	}
	return &sdk.ElicitParams{
		Mode: "form", Message: asked(q.PlanItem),
		RequestedSchema: map[string]any{"type": "object", "properties": properties, "required": []string{fieldDecision}},
	}
}

// asked is the text of a question.
func asked(item *planv1.PlanItem) string {
	risk := strings.ToLower(strings.TrimPrefix(item.GetRisk().String(), "RISK_CLASS_"))
	if item.GetRisk() == toolv1.RiskClass_RISK_CLASS_UNSPECIFIED {
		risk = "unknown"
	}
	head := fmt.Sprintf("%s wants to change something (risk %s). Approve it?", itemName(item), risk)
	if item.GetPreview() == nil {
		return head
	}
	return head + "\n\n" + behindBars(paint.Painter{}.Tree(item.GetPreview()))
}

func itemName(item *planv1.PlanItem) string {
	if item.GetProducerCategory() == commonv1.Category_CATEGORY_SLASHCOMMAND {
		return fmt.Sprintf("/%s (%s)", paint.Line(item.GetOperationName()), paint.Line(item.GetProvider()))
	}
	return paint.Line(item.GetProvider() + "." + item.GetOperationName())
}

// answered reads what a person said through a client. Only a clear yes is one: a form that was accepted without a
// decision has not decided anything.
func answered(q gate.Question, r *sdk.ElicitResult, client string) gate.Answer {
	by := "person, through " + client
	decision, _ := r.Content[fieldDecision].(string)
	switch {
	case r.Action == "cancel":
		return gate.Answer{By: by, Reason: "the question was closed without an answer"}
	case r.Action == "decline", r.Action == "accept" && decision == decideDeny:
		return gate.Answer{By: by, Reason: "refused by the person at " + client}
	case r.Action != "accept":
		return gate.Answer{By: by, Reason: fmt.Sprintf("%s sent no answer: its action has to be accept, decline or cancel", client)}
	case decision != decideApprove:
		return gate.Answer{By: by, Reason: fmt.Sprintf("the form was sent without a decision: %q has to be %s", fieldDecision, decideApprove)}
	case r.Content[fieldScope] == scopeSession && q.Offer != nil:
		return gate.Answer{Approved: true, Session: true, By: by + ", for this session"}
	default:
		return gate.Answer{Approved: true, By: by}
	}
}
