package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schema"
)

// Offer is what one provider has, by name.
type Offer struct {
	Tools, Commands []string
	// Operations are both, with what can be told of their calls.
	Operations []policy.Callable
}

func (o Offer) all() []string { return slices.Concat(o.Tools, o.Commands) }

// checkPolicyProviders refuses rules about a provider that is not required: a deny with a typo would never match.
func (l *loader) checkPolicyProviders() {
	names := l.project.providerNames()
	for i, rule := range l.project.Policies {
		if name := rule.Match.Provider; name != "" && !slices.Contains(names, name) {
			l.fail(l.project.rules[i].provider, fmt.Sprintf("policy %q: no provider %q is required%s", rule.Name, name, schema.Hint(name, names)),
				"The policy could never match. Correct the name, or add the provider to required_providers.")
		}
	}
}

// CheckNames refuses policies and profiles that name a tool or a command which none of the providers has, or an argument that
// none of the operations has: a deny with a typo would never match. offers holds the providers that were started; what is said about one that was not, or about
// all with one of them missing, cannot be judged and passes. The error is of type Diagnostics.
func (p *Project) CheckNames(offers map[string]Offer) error {
	c := nameCheck{project: p, offers: offers, whole: true}
	for _, name := range p.providerNames() {
		has, started := offers[name]
		c.everywhere.Tools = append(c.everywhere.Tools, has.Tools...)
		c.everywhere.Commands = append(c.everywhere.Commands, has.Commands...)
		c.everywhere.Operations = append(c.everywhere.Operations, has.Operations...)
		c.whole = c.whole && started
	}
	for i, rule := range p.Policies {
		c.policy(rule.Name, rule.Match.Provider, rule.Match.ToolName, p.rules[i].tool)
		c.arguments(rule, p.rules[i])
	}
	for _, profile := range p.Profiles {
		for _, pt := range profile.tools {
			c.entry(profile, pt, false)
		}
		for _, pt := range profile.commands {
			c.entry(profile, pt, true)
		}
	}
	return p.file.render(c.diags).errorsOnly()
}

type nameCheck struct {
	project    *Project
	offers     map[string]Offer
	everywhere Offer
	whole      bool // every provider was started
	diags      hcl.Diagnostics
}

// of is what there is of a provider, of all when none is named; judged is false when that is not known.
func (c *nameCheck) of(provider string) (has Offer, judged bool, whose string) {
	if provider == "" {
		return c.everywhere, c.whole, "no provider has"
	}
	has, judged = c.offers[provider]
	return has, judged, fmt.Sprintf("provider %q does not have", provider)
}

func (c *nameCheck) policy(policy, provider, tool string, at hcl.Range) {
	has, judged, whose := c.of(provider)
	if tool == "" || !judged || slices.Contains(has.all(), tool) {
		return
	}
	c.diags = append(c.diags, errorAt(at, fmt.Sprintf("policy %q: %s a tool or command %q%s", policy, whose, tool, schema.Hint(tool, has.all())),
		"The policy could never match. 'agent tools' lists what there is."))
}

// entry checks an entry of a profile. What is for everything of a provider may be for nothing.
func (c *nameCheck) entry(p *Profile, pt pattern, command bool) {
	has, judged, whose := c.of(pt.provider)
	names, others, kind, other, list := has.Tools, has.Commands, "tool", "command", "slash_commands"
	if command {
		names, others, kind, other, list = has.Commands, has.Tools, "command", "tool", "tools"
	}
	matching := func(name string) bool { return starred(pt.name, name) }
	if pt.name == "*" || !judged || slices.ContainsFunc(names, matching) {
		return
	}
	detail := "The entry is of no use. 'agent tools' lists what there is."
	if slices.ContainsFunc(others, matching) {
		detail = fmt.Sprintf("There is a %s of that name: it belongs into %s.", other, list)
	}
	c.diags = append(c.diags, errorAt(pt.at, fmt.Sprintf("agent_profile %q: %s a %s %q%s", p.Name, whose, kind, pt.name, schema.Hint(pt.name, names)), "%s", detail))
}
