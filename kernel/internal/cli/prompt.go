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
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// prompt asks a person about each item of a plan. Only a yes is a yes.
type prompt struct {
	display  *display
	terminal *terminal
	kill     *killSwitch
	// project is where a policy goes that a person wants to have always.
	project *config.Project
	// more says that other calls may follow in the session, for which an approval can hold as well.
	more  bool
	asked bool
	// names are what calls are called among others, by id.
	names map[string]string
	// drafts are arguments as a person has last written them, by the id of the call.
	drafts map[string][]byte
}

// Approve shows all items and asks one by one. A person who leaves (end of input) has said no to the rest; one who has
// pressed Ctrl-C already is shown nothing.
func (p *prompt) Approve(ctx context.Context, questions []gate.Question) ([]gate.Answer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p.asked = true
	p.display.SetStatus("")
	for i, q := range questions {
		p.display.Note(p.place(i, len(questions)) + p.called(q) + planned(q.PlanItem, p.display.ErrPainter()))
	}
	round := round{questions: questions}
	for i, q := range questions {
		if answer, settled := round.settled(q); settled {
			round.answers = append(round.answers, answer)
			p.display.Note(p.place(i, len(questions)) + p.called(q) + p.display.ErrPainter().Dim(paint.Line(answer.By)))
			continue
		}
		answer, err := p.ask(ctx, q, &round)
		if err != nil {
			return nil, err
		}
		round.answers = append(round.answers, answer)
		if answer.Revised != nil {
			q = *answer.Revised
		}
		if answer.Session {
			round.granted = append(round.granted, q.Offer)
		}
	}
	return round.answers, nil
}

// round is the questions that are asked together, and what has been answered so far.
type round struct {
	questions []gate.Question
	answers   []gate.Answer
	granted   []*gate.Grant
	// rest answers all that is left; nil when each is asked about.
	rest *gate.Answer
}

// settled finds the answer to a question in one that was given before.
func (r *round) settled(q gate.Question) (gate.Answer, bool) {
	for _, grant := range r.granted {
		if q.CoveredBy(grant) {
			return gate.Answer{Approved: true, By: "granted for this session: " + grant.String()}, true
		}
	}
	if r.rest != nil {
		return *r.rest, true
	}
	return gate.Answer{}, false
}

// left is how many questions come after the one that is being asked.
func (r *round) left() int { return len(r.questions) - len(r.answers) - 1 }

// place says which of several questions it is.
func (p *prompt) place(i, n int) string {
	if n == 1 {
		return ""
	}
	return p.display.ErrPainter().Dim(fmt.Sprintf("%d/%d ", i+1, n))
}

// called is the name of a call among others.
func (p *prompt) called(q gate.Question) string {
	name := p.names[q.GetCallId()]
	if name == "" {
		return ""
	}
	return p.display.ErrPainter().Bold(paint.Line(name)) + p.display.ErrPainter().Dim(" · ")
}

// planned shows what is about to happen. Every line of the provider's is behind a bar, so that none can
// look like a question of ours.
func planned(item *planv1.PlanItem, painter paint.Painter) string {
	lines := []string{painter.Bold(paint.Line(itemName(item))) + painter.Dim(" · risk "+risk(item.GetRisk()))}
	if item.GetPreview() != nil {
		lines = append(lines, barred(item.GetPreview(), painter)...)
	}
	return strings.Join(lines, "\n")
}

// barred are the lines of a provider's, behind a bar however narrow the terminal is.
func barred(tree *renderv1.RenderTree, painter paint.Painter) []string {
	const bar = "  │ "
	painter.Width = max(0, painter.Width-paint.Width(bar))
	var lines []string
	for line := range strings.Lines(painter.Tree(tree)) {
		for _, row := range paint.Fold(strings.TrimSuffix(line, "\n"), painter.Width) {
			lines = append(lines, painter.Dim(bar)+row)
		}
	}
	return lines
}

// objection is what is the matter with an answer. A provider may have said it: what is more than a line is behind a bar.
func objection(text string, painter paint.Painter) string {
	lines := strings.Split(paint.Text(text), "\n")
	return painter.Error("error: ") + strings.Join(lines, "\n"+painter.Dim("  │ "))
}

func itemName(item *planv1.PlanItem) string {
	if item.GetProducerCategory() == commonv1.Category_CATEGORY_SLASHCOMMAND {
		return fmt.Sprintf("/%s (%s)", item.GetOperationName(), item.GetProvider())
	}
	return item.GetProvider() + "." + item.GetOperationName()
}

var no = gate.Answer{By: "person", Reason: "refused at the prompt"}

// ask asks about one item until it is answered. Every answer but those that are offered is a no.
func (p *prompt) ask(ctx context.Context, q gate.Question, r *round) (gate.Answer, error) {
	given := q.PlanItem
	for {
		if len(r.questions) > 1 {
			p.display.Note(p.place(len(r.answers), len(r.questions)) + p.called(q) + p.display.ErrPainter().Bold(paint.Line(itemName(q.PlanItem))))
		}
		p.showChoices(q.Offer, r)
		word, err := p.answer(ctx, "Go ahead? [y/N] ")
		if err != nil {
			return no, err
		}
		answer, answered, err := p.take(ctx, word, &q, r)
		if err != nil {
			return no, err
		}
		if !answered {
			continue
		}
		if q.PlanItem != given {
			answer.Revised = &q
			answer.By = strings.Replace(answer.By, "person", "person, who changed the arguments", 1)
		}
		return answer, nil
	}
}

// take does what a word says. A word that only changed something has not answered.
func (p *prompt) take(ctx context.Context, word string, q *gate.Question, r *round) (answer gate.Answer, answered bool, err error) {
	yes := gate.Answer{Approved: true, By: "person"}
	switch word {
	case "y", "yes":
		return yes, true, nil
	case "v", "view":
		p.display.Note(planned(q.PlanItem, p.display.ErrPainter()))
		return no, false, nil
	case "e", "edit":
		return no, false, p.revise(ctx, q, r)
	case "s", "session":
		return p.forSession(q.Offer)
	case "a", "always":
		if q.Offer == nil {
			return p.nothingToGrant("")
		}
		done, err := p.always(ctx, q.Offer)
		return gate.Answer{Approved: done, Session: done, By: "person, always"}, done, err
	case "all":
		if r.left() > 0 {
			r.rest = &gate.Answer{Approved: true, By: "person, to all"}
			return yes, true, nil
		}
	case "none":
		r.rest = &no
		return no, true, nil
	case "n", "no", "":
		return no, true, nil
	}
	p.display.Note(p.display.ErrPainter().Dim(fmt.Sprintf("%q is none of the answers, so it is a no", paint.Line(word))))
	return no, true, nil
}

// forSession approves what is offered for the rest of the session, if there is such.
func (p *prompt) forSession(offer *gate.Grant) (gate.Answer, bool, error) {
	switch {
	case offer == nil:
		return p.nothingToGrant("")
	case !p.more:
		return p.nothingToGrant(", since no call follows")
	default:
		return gate.Answer{Approved: true, Session: true, By: "person, for this session"}, true, nil
	}
}

// nothingToGrant says that only the call itself can be approved, which is asked again.
func (p *prompt) nothingToGrant(why string) (gate.Answer, bool, error) {
	p.display.Note(p.display.ErrPainter().Dim("there is nothing to grant for this" + why + ": y, or n"))
	return no, false, nil
}

// revise has the arguments of an item changed, and shows what they would do. The question is about that then.
func (p *prompt) revise(ctx context.Context, q *gate.Question, r *round) error {
	args, err := p.edit(ctx, *q)
	if err != nil || args == nil {
		return err
	}
	*q = q.Revise(ctx, args)
	if q.Problem != "" {
		p.display.Note(objection(q.Problem, p.display.ErrPainter()))
		return context.Cause(ctx)
	}
	p.display.Note(p.place(len(r.answers), len(r.questions)) + p.called(*q) + planned(q.PlanItem, p.display.ErrPainter()))
	return context.Cause(ctx)
}

// showChoices says what can be answered besides yes and no, and how far that goes.
func (p *prompt) showChoices(offer *gate.Grant, r *round) {
	if left := r.left(); left > 0 {
		p.choice(fmt.Sprintf("all: yes to this and the %d after it · none: no to them", left), "")
	}
	again := ""
	if len(r.questions) > 1 {
		again = "v: show it again · "
	}
	p.choice(again+"e: change the arguments first", "")
	if offer == nil {
		return
	}
	if p.more {
		p.choice("s: yes, and in this session also", offer.String())
	}
	p.choice("a: yes, and always, by a policy for", offer.String())
}

// choice shows what can be answered, and what that is for: below it where there is no room beside it. A window narrower
// than either cuts them between words.
func (p *prompt) choice(text, what string) {
	painter := p.display.ErrPainter()
	what = paint.Line(what)
	if painter.Width == 0 || paint.Width(text)+1+paint.Width(what) <= painter.Width {
		p.display.Note(strings.TrimRight(painter.Dim(text)+" "+what, " "))
		return
	}
	p.display.Note(prose(text, "", painter.Dim, painter) + prose(what, "   ", nil, painter))
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

// answer waits for a word.
func (p *prompt) answer(ctx context.Context, question string) (string, error) {
	text, err := p.line(ctx, question)
	return strings.ToLower(text), err
}

// line waits for a line or for ctx; the end of input is an empty one.
func (p *prompt) line(ctx context.Context, question string) (string, error) {
	p.terminal.forget()
	defer p.terminal.show()()
	if painter := p.display.ErrPainter(); paint.Width(question) > painter.Width && painter.Width > 0 {
		question = strings.TrimSuffix(prose(question, "", nil, painter), "\n") + " "
	}
	p.display.Prompt(question)
	text, err := p.terminal.line(ctx)
	p.display.Answered(err == nil)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", nil
	default:
		return strings.TrimSpace(text), nil
	}
}
