package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schema"
)

// arguments checks what a policy says about arguments with the operations that it is about. When there are none of these,
// there is nothing to be wrong about.
func (c *nameCheck) arguments(rule policy.Rule, at ruleRange) {
	has, judged, _ := c.of(rule.Match.Provider)
	about := rule.Match.Among(has.Operations)
	if !judged || len(about) == 0 {
		return
	}
	if len(rule.Match.Command) > 0 && !slices.ContainsFunc(about, policy.Callable.TakesCommand) {
		c.never(at.command, fmt.Sprintf("policy %q: %s a command", rule.Name, noneOf(about, "takes", "take")), "Only operations of a shell do.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rule.Match.Arguments)) {
		if slices.ContainsFunc(about, func(op policy.Callable) bool { return op.Takes(name) }) {
			continue
		}
		texts := textsOf(about)
		c.never(at.arguments[name], fmt.Sprintf("policy %q: %s a text argument %q%s", rule.Name, noneOf(about, "has", "have"), name, schema.Hint(name, texts)), theyHave(texts))
	}
}

func (c *nameCheck) never(at hcl.Range, summary, detail string) {
	c.diags = append(c.diags, errorAt(at, summary, "The policy could never match. %s", detail))
}

// noneOf begins a sentence about what operations do not do, of which there is at least one.
func noneOf(about []policy.Callable, does, do string) string {
	first := about[0]
	others := func(differs func(policy.Callable) bool) bool { return slices.ContainsFunc(about, differs) }
	switch {
	case len(about) == 1:
		return fmt.Sprintf("%q of provider %q does not %s", first.Operation, first.Provider, do)
	case !others(func(op policy.Callable) bool { return op.Provider != first.Provider }):
		return fmt.Sprintf("no operation of provider %q that it is about %s", first.Provider, does)
	default:
		return "no operation that it is about " + does
	}
}

func textsOf(about []policy.Callable) (texts []string) {
	for _, op := range about {
		texts = append(texts, op.Texts()...)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// mostTexts is how many names a message lists.
const mostTexts = 20

func theyHave(texts []string) string {
	switch more := len(texts) - mostTexts; {
	case len(texts) == 0:
		return "There are none that are text."
	case more > 0:
		return fmt.Sprintf("Text arguments are %s and %d more.", strings.Join(texts[:mostTexts], ", "), more)
	default:
		return fmt.Sprintf("Text arguments are %s.", strings.Join(texts, ", "))
	}
}
