package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/plan"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
)

// staleError says that a saved plan is not about what would be done now.
type staleError struct {
	file    string
	changes []plan.Change
}

// Kind is the name of the failure for programs.
func (e *staleError) Kind() string { return "stale-plan" }

func (e *staleError) Error() string {
	lines := []string{"stale-plan: " + e.file + " is about something else than would be done now, so nothing of it was:"}
	for _, c := range e.changes {
		line := "  " + c.What
		if c.Call != "" {
			line += " of " + c.Call
		}
		lines = append(lines, line+": "+c.Text)
	}
	return strings.Join(append(lines, "Make it again with 'agent plan'."), "\n")
}

// applySaved runs the calls of a saved plan, if everything is as it was when it was made and it was not applied before.
func (a *app) applySaved(flags applyFlags, file callFile) error {
	if flags.parallel {
		return usagef("%s is a saved plan, and the order of its calls is part of it: --parallel is for 'agent plan'", file.shown)
	}
	saved, err := decodePlan(file)
	if err != nil {
		return err
	}
	record, err := plan.DefaultStore().Claim(saved)
	if err != nil {
		return err
	}
	return errors.Join(a.applyClaimed(flags, file, saved, record), record.Close())
}

// applyClaimed is for a plan that nobody else applies.
func (a *app) applyClaimed(flags applyFlags, file callFile, saved *plan.Plan, record *plan.Record) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	var names []string
	for _, provider := range saved.Providers {
		if p.Provider(provider.Name) == nil {
			return a.stale(file, []plan.Change{{What: "provider", Text: provider.Name + " is not required any more"}})
		}
		names = append(names, provider.Name)
	}
	a.tellOverrides(p, names...)
	call := flags.calls()
	call.approver = gate.ApproveThese("the plan in "+file.shown, items(saved))
	return a.withSession(p, call, names, func(s *engine.Session, failed error) error {
		if failed != nil {
			return failed
		}
		list := savedCalls(s, saved)
		if err := a.readyAll(p, s, list); err != nil {
			return err
		}
		fresh, _, err := a.makePlan(p, s, saved.Source, list)
		if err != nil {
			return err
		}
		if changes := append(saved.Changes(fresh), p.sourceChanges(s, saved)...); len(changes) > 0 {
			return a.stale(file, changes)
		}
		for i := range list {
			list[i].request.Timeout = cmp.Or(list[i].request.Timeout, flags.timeout)
		}
		if !a.flags.json {
			a.display.Note(plannedCalls(saved, nil, "approved with this plan", a.display.ErrPainter()))
		}
		return a.turn(s, list, record)
	})
}

// stale refuses a plan.
func (a *app) stale(file callFile, changes []plan.Change) error {
	err := &staleError{file.shown, changes}
	if a.flags.json {
		a.writeJSON(map[string]any{"error": struct {
			errorJSON
			Changes []plan.Change `json:"changes"`
		}{describe(err), changes}})
		a.silent = true
	}
	return err
}

func items(p *plan.Plan) []*planv1.PlanItem {
	items := make([]*planv1.PlanItem, len(p.Calls))
	for i, c := range p.Calls {
		items[i] = c.Item.PlanItem
	}
	return items
}

// savedCalls are the calls of a plan whose operations are there.
func savedCalls(s *engine.Session, p *plan.Plan) []listedCall {
	var list []listedCall
	at := map[string]int{}
	for _, c := range p.Calls {
		i := slices.IndexFunc(s.Operations(), func(op engine.Operation) bool {
			return op.Provider == c.Item.GetProvider() && op.Name == c.Item.GetOperationName() && op.Category == c.Item.GetProducerCategory()
		})
		if i < 0 {
			continue
		}
		r := engine.Request{Operation: s.Operations()[i], Arguments: c.Item.GetInput(), Timeout: c.Timeout(), CallID: c.Item.GetCallId()}
		for _, name := range c.After {
			if before, there := at[name]; there {
				r.After = append(r.After, before)
			}
		}
		at[c.Name] = len(list)
		list = append(list, listedCall{c.Name, r})
	}
	return list
}
