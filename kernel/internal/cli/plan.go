package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/plan"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

func (a *app) planCommand() *cobra.Command {
	var flags applyFlags
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show what a list of calls would do, and save that",
		Long: `Show what a list of calls would do: what is decided about each, and what its provider says of it. Nothing is run
and nobody is asked.

` + callListHelp + `

--out saves the plan for 'agent apply'. Whoever applies it approves what stands in it, and is not asked again: look at it
first, and keep it as you would a script. FILE may also be a saved plan, which is then shown.

The exit code is 0 whatever is decided; it is 1, and nothing is saved, when a provider refuses a call.`,
		Example: `  agent plan calls.hcl
  agent plan calls.hcl --out plan.json
  agent plan plan.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(atLeastOne("FILE")(cmd, args), noMoreThan(1)(cmd, args))
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.plan(flags, out, force, args[0]) },
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "save the plan in this `file`")
	cmd.Flags().BoolVar(&force, "force", false, "with --out, replace a file that is no saved plan")
	cmd.Flags().BoolVar(&flags.parallel, "parallel", false, "let calls run beside each other that do not say after which they come")
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 0, "give each call this long that has no timeout of its own, such as 90s")
	return cmd
}

func (a *app) plan(flags applyFlags, out string, force bool, name string) error {
	file, err := readCallFile(a.ctx, name)
	if err != nil {
		return err
	}
	if plan.Is(file.src) {
		return a.showSaved(flags, out, file)
	}
	return a.withCalls(flags, file, func(p *project, s *engine.Session, list []listedCall) error {
		made, refusals, err := a.makePlan(p, s, plan.Source{File: file.path, Digest: plan.Digest(file.src)}, list)
		if err != nil {
			return err
		}
		a.showPlan(made, refusals)
		if len(refusals) > 0 {
			a.silent = a.flags.json
			return fmt.Errorf("%s cannot succeed, so this is no plan that could be applied", count(len(refusals), "call", "calls"))
		}
		if out == "" {
			return nil
		}
		if err := made.Save(out, force); err != nil {
			return err
		}
		a.display.Note(a.display.ErrPainter().Dim("saved: agent apply " + out))
		return nil
	})
}

// showSaved shows a saved plan.
func (a *app) showSaved(flags applyFlags, out string, file callFile) error {
	if flags.parallel || flags.timeout != 0 || out != "" {
		return usagef("%s is a saved plan, which is only shown: --out, --parallel and --timeout are for a list of calls", file.shown)
	}
	saved, err := decodePlan(file)
	if err != nil {
		return err
	}
	a.showPlan(saved, nil)
	return nil
}

// decodePlan reads a saved plan. One that is not as it was saved is no plan.
func decodePlan(file callFile) (*plan.Plan, error) {
	saved, err := plan.Decode(file.src)
	if err != nil {
		return nil, usagef("%s: %w", file.shown, err)
	}
	return saved, nil
}

// showPlan shows a plan on stdout.
func (a *app) showPlan(p *plan.Plan, refusals []refused) {
	if a.flags.json {
		answer := map[string]any{"plan": p}
		if len(refusals) > 0 {
			against := map[string]json.RawMessage{}
			for _, r := range refusals {
				against[r.call] = eventJSON(r.reason)
			}
			answer["refused"] = against
		}
		a.writeJSON(answer)
		return
	}
	_, _ = io.WriteString(a.display.Out(), plannedCalls(p, refusals, "to be approved", a.display.OutPainter()))
}

// plannedCalls shows every call of a plan, and how many are decided how; asked is what is said of those that are asked
// about.
func plannedCalls(p *plan.Plan, refusals []refused, asked string, painter paint.Painter) string {
	var b strings.Builder
	counts := map[planv1.PlanDecision]int{}
	for i, c := range p.Calls {
		counts[c.Item.GetDecision()]++
		fmt.Fprintf(&b, "%s%s\n", painter.Bold(paint.Line(c.Name))+painter.Dim(" · "), planned(c.Item.PlanItem, painter))
		fmt.Fprintf(&b, "  %s\n", paint.Text(decision(c, p.Calls[:i], asked)))
		for _, r := range refusals {
			if r.call == c.Name {
				fmt.Fprintf(&b, "  %s%s: %s\n", painter.Error("refused: "), category(r.reason.GetCategory().String()), paint.Text(r.reason.GetMessage()))
			}
		}
	}
	fmt.Fprintf(&b, "%s: %d allowed, %d %s, %d denied\n", count(len(p.Calls), "call", "calls"),
		counts[planv1.PlanDecision_PLAN_DECISION_ALLOW], counts[planv1.PlanDecision_PLAN_DECISION_ASK], asked, counts[planv1.PlanDecision_PLAN_DECISION_DENY])
	return b.String()
}

// decision says what is decided about a call, and when it runs.
func decision(c plan.Call, above []plan.Call, asked string) string {
	text := map[planv1.PlanDecision]string{
		planv1.PlanDecision_PLAN_DECISION_ALLOW: "allowed", planv1.PlanDecision_PLAN_DECISION_ASK: asked, planv1.PlanDecision_PLAN_DECISION_DENY: "denied",
	}[c.Item.GetDecision()] + " (" + c.Item.GetDecidedBy() + ")"
	switch {
	case len(above) == 0:
	case len(c.After) == 0:
		text += "; beside those above"
	case len(c.After) == len(above):
		text += "; after all above"
	default:
		text += "; after " + strings.Join(c.After, ", ")
	}
	return text
}
