package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/agentco/agent/kernel/internal/schema"
)

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

// CheckPolicyTools refuses rules with a tool_name that is none of what the providers have: a deny with a typo would
// never match. operations lists the names of the tools and commands of each provider that was started; a rule about
// one that was not, or about all with one of them missing, cannot be judged and passes. The error is of type
// Diagnostics.
func (p *Project) CheckPolicyTools(operations map[string][]string) error {
	var everywhere []string
	whole := true
	for _, name := range p.providerNames() {
		has, started := operations[name]
		everywhere = append(everywhere, has...)
		whole = whole && started
	}
	var diags hcl.Diagnostics
	for i, rule := range p.Policies {
		has, judged, problem := everywhere, whole, "no provider has"
		if name := rule.Match.Provider; name != "" {
			has, judged = operations[name]
			problem = fmt.Sprintf("provider %q does not have", name)
		}
		tool := rule.Match.ToolName
		if tool == "" || !judged || slices.Contains(has, tool) {
			continue
		}
		diags = append(diags, errorAt(p.rules[i].tool, fmt.Sprintf("policy %q: %s a tool or command %q%s", rule.Name, problem, tool, schema.Hint(tool, has)),
			"The policy could never match. 'agent tools' lists what there is."))
	}
	return p.file.render(diags).errorsOnly()
}
