package cli

import (
	"fmt"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/plan"
)

// sourceChanges compares a plan with the list it was made of, when that is still there: somebody may take the one for the
// other.
func (p *project) sourceChanges(s *engine.Session, saved *plan.Plan) []plan.Change {
	if info, err := os.Stat(saved.Source.File); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return nil
	}
	src, err := os.ReadFile(saved.Source.File)
	if err != nil || plan.Digest(src) == saved.Source.Digest {
		return nil
	}
	name := shown(p.cwd, saved.Source.File)
	calls, err := p.calls(callFile{shown: name, src: src})
	if err != nil {
		return []plan.Change{{What: "calls", Text: name + " has changed, and cannot be read any more"}}
	}
	list, err := resolve(s, p.cwd, calls, false, 0)
	if err != nil {
		return []plan.Change{{What: "calls", Text: name + " has changed, and not all of its calls can be made any more"}}
	}
	var changes []plan.Change
	for _, c := range saved.Calls {
		i := slices.IndexFunc(list, func(now listedCall) bool { return now.name == c.Name })
		if i < 0 {
			changes = append(changes, plan.Change{Call: c.Name, What: "calls", Text: "it is not in " + name + " any more"})
			continue
		}
		changes = append(changes, callChanges(c, list[i].request, name)...)
	}
	if len(list) > len(saved.Calls) {
		changes = append(changes, plan.Change{What: "calls", Text: fmt.Sprintf("%s has %d, and the plan %d", name, len(list), len(saved.Calls))})
	}
	if len(changes) > 0 || sameOrder(saved, list) {
		return changes
	}
	if list, err = resolve(s, p.cwd, calls, true, 0); err == nil && sameOrder(saved, list) { // it was made with --parallel
		return nil
	}
	return []plan.Change{{What: "order", Text: "the calls come after others in " + name}}
}

// callChanges compares a call of a plan with the one of its name in a list. What the list leaves open a flag had said.
func callChanges(c plan.Call, now engine.Request, list string) (changes []plan.Change) {
	note := func(what, text string) {
		changes = append(changes, plan.Change{Call: c.Name, What: what, Text: text + " in " + list})
	}
	op := now.Operation
	if op.Provider != c.Item.GetProvider() || op.Name != c.Item.GetOperationName() || op.Category != c.Item.GetProducerCategory() {
		note("operation", "it is "+op.String())
	}
	if !proto.Equal(now.Arguments, c.Item.GetInput()) {
		note("arguments", "they are others")
	}
	if now.Timeout != 0 && now.Timeout != c.Timeout() {
		note("timeout", "it is "+now.Timeout.String())
	}
	return changes
}

// sameOrder reports whether every call of a list comes after the same others as in the plan.
func sameOrder(saved *plan.Plan, list []listedCall) bool {
	after := map[string][]string{}
	for _, c := range list {
		names := make([]string, len(c.request.After))
		for i, before := range c.request.After {
			names[i] = list[before].name
		}
		after[c.name] = names
	}
	return !slices.ContainsFunc(saved.Calls, func(c plan.Call) bool {
		return !slices.Equal(slices.Sorted(slices.Values(c.After)), slices.Sorted(slices.Values(after[c.Name])))
	})
}
