package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// prompt asks a person about each item of a plan. Only a yes is a yes.
type prompt struct {
	display  *display
	terminal *terminal
	// project is where a policy goes that a person wants to have always.
	project *config.Project
	// more says that other calls may follow in the session, for which an approval can hold as well.
	more  bool
	asked bool
}

// Approve shows all items and asks one by one. A person who leaves (end of input) has said no to the rest.
func (p *prompt) Approve(ctx context.Context, questions []gate.Question) ([]gate.Answer, error) {
	p.asked = true
	p.display.SetStatus("")
	answers := make([]gate.Answer, len(questions))
	for i, q := range questions {
		p.display.Note(planned(q.PlanItem, p.display.ErrPainter()))
		answer, err := p.ask(ctx, q.Offer)
		if err != nil {
			return nil, err
		}
		answers[i] = answer
	}
	return answers, nil
}

// planned shows what is about to happen. Every line of the provider's is behind a bar, so that none can
// look like a question of ours.
func planned(item *planv1.PlanItem, painter paint.Painter) string {
	painter.Width = max(0, painter.Width-len("  │ "))
	lines := []string{painter.Bold(paint.Line(itemName(item))) + painter.Dim(" · risk "+risk(item.GetRisk()))}
	if item.GetPreview() != nil {
		for line := range strings.Lines(painter.Tree(item.GetPreview())) {
			lines = append(lines, painter.Dim("  │ ")+strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}

func itemName(item *planv1.PlanItem) string {
	if item.GetProducerCategory() == commonv1.Category_CATEGORY_SLASHCOMMAND {
		return fmt.Sprintf("/%s (%s)", item.GetOperationName(), item.GetProvider())
	}
	return item.GetProvider() + "." + item.GetOperationName()
}

// ask asks about one item until it is answered. Every answer but those that are offered is a no.
func (p *prompt) ask(ctx context.Context, offer *gate.Grant) (gate.Answer, error) {
	no := gate.Answer{By: "person", Reason: "refused at the prompt"}
	for {
		if offer != nil {
			p.showOffer(offer)
		}
		answer, err := p.answer(ctx, "Go ahead? [y/N] ")
		switch {
		case err != nil:
			return no, err
		case answer == "y" || answer == "yes":
			return gate.Answer{Approved: true, By: "person"}, nil
		case offer != nil && p.more && (answer == "s" || answer == "session"):
			return gate.Answer{Approved: true, Session: true, By: "person, for this session"}, nil
		case offer != nil && (answer == "a" || answer == "always"):
			if done, err := p.always(ctx, offer); done || err != nil {
				return gate.Answer{Approved: done, Session: done, By: "person, always"}, err
			}
		default:
			return no, nil
		}
	}
}

// showOffer says what can be answered besides yes and no, and how far that goes.
func (p *prompt) showOffer(offer *gate.Grant) {
	dim := p.display.ErrPainter().Dim
	if p.more {
		p.display.Note(dim("s: yes, and in this session also ") + paint.Line(offer.String()))
	}
	p.display.Note(dim("a: yes, and always, by a policy for ") + paint.Line(offer.String()))
}

// always shows the policy that would allow such calls from now on, and writes it if that is wanted.
func (p *prompt) always(ctx context.Context, offer *gate.Grant) (done bool, err error) {
	addition, err := p.project.Allowing(offer.Match)
	if err != nil {
		p.display.Note(p.display.ErrPainter().Error("error: ") + paint.Text(err.Error()))
		return false, nil
	}
	for line := range strings.Lines(addition.Text) {
		p.display.Note(p.display.ErrPainter().Dim("  + ") + paint.Line(strings.TrimRight(line, "\r\n")))
	}
	answer, err := p.answer(ctx, "Add this to "+config.FileName+", and go ahead? [y/N] ")
	if err != nil || answer != "y" && answer != "yes" {
		return false, err
	}
	if err := addition.Write(); err != nil {
		p.display.Note(p.display.ErrPainter().Error("error: ") + paint.Text(err.Error()))
		return false, nil
	}
	return true, nil
}

// answer waits for a line or for ctx; the end of input is an empty one.
func (p *prompt) answer(ctx context.Context, question string) (string, error) {
	p.terminal.forget()
	p.display.Prompt(question)
	text, err := p.terminal.line(ctx)
	p.display.Answered(err == nil)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", nil
	default:
		return strings.ToLower(strings.TrimSpace(text)), nil
	}
}
