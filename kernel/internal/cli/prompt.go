package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// prompt asks a person about each item of a plan. Only a yes is a yes.
type prompt struct {
	display  *display
	terminal *terminal
	asked    bool
}

// Approve shows all items and asks one by one. A person who leaves (end of input) has said no to the rest.
func (p *prompt) Approve(ctx context.Context, questions []gate.Question) ([]gate.Answer, error) {
	p.asked = true
	p.display.SetStatus("")
	answers := make([]gate.Answer, len(questions))
	for i, q := range questions {
		p.display.Note(planned(q.PlanItem, p.display.ErrPainter()))
		yes, err := p.ask(ctx)
		if err != nil {
			return nil, err
		}
		answers[i] = gate.Answer{Approved: yes, By: "person"}
		if !yes {
			answers[i].Reason = "refused at the prompt"
		}
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

// ask waits for an answer or for ctx. A reader that waits for a line cannot be woken; it ends with the process.
func (p *prompt) ask(ctx context.Context) (bool, error) {
	p.terminal.forget()
	p.display.Prompt("Go ahead? [y/N] ")
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := p.terminal.line()
		replies <- reply{text, err}
	}()
	select {
	case <-ctx.Done():
		p.display.Note("")
		return false, context.Cause(ctx)
	case r := <-replies:
		if r.err != nil {
			p.display.Note("")
			return false, nil
		}
		answer := strings.ToLower(strings.TrimSpace(r.text))
		return answer == "y" || answer == "yes", nil
	}
}
