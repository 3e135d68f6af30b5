// Package config reads what a person writes: agent.hcl of a project and config.hcl of a user.
//
//	agent.hcl ── Load ──► Project ── Provider.Decode(schema) ──► Struct for Configure
//	config.hcl ─ LoadGlobal ► Global
//
// Load checks everything that can be known without a provider, Decode the rest, once its config_schema is
// known. Both report every problem of the file at once, each with its line. The package knows no processes.
package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/signature"
)

// Project is a checked agent.hcl.
type Project struct {
	// File is the absolute path of agent.hcl, Root the folder it is in.
	File, Root string
	// Providers are those of required_providers, in the order of the file.
	Providers []*Provider
	// Policies are the policy blocks, in the order of the file.
	Policies []policy.Rule
	// Profiles are the agent_profile blocks, in the order of the file.
	Profiles []*Profile
	Settings Settings
	// Warnings did not stop the load.
	Warnings Diagnostics

	file  *file
	scope Scope
	rules []ruleRange // where each of Policies stands
}

// ruleRange is where a policy stands, and what of it names something; zero when it does not.
type ruleRange struct {
	block, provider, tool, command hcl.Range
	arguments                      map[string]hcl.Range // by their names
}

// Provider looks up a provider by name; nil when the project does not require it.
func (p *Project) Provider(name string) *Provider {
	for _, pr := range p.Providers {
		if pr.Name == name {
			return pr
		}
	}
	return nil
}

func (p *Project) providerNames() []string {
	names := make([]string, len(p.Providers))
	for i, pr := range p.Providers {
		names[i] = pr.Name
	}
	return names
}

// Provider is one entry of required_providers with its provider block, if there is one.
type Provider struct {
	Name    string
	Source  Source
	Version Constraint
	// PublicKey must have signed the checksums of every release that is installed; nil when none is asked for.
	PublicKey signature.Key

	declared hcl.Range
	settings *block // nil: configured with defaults alone
	file     *file
	scope    Scope
}

// Position says where the provider is declared, as FILE:LINE:COLUMN.
func (p *Provider) Position() string { return position(p.declared) }

// Errorf is a problem of the provider as a whole, shown at its entry in required_providers.
func (p *Provider) Errorf(summary, detail string, args ...any) Diagnostics {
	return p.file.render(hcl.Diagnostics{errorAt(p.declared, summary, detail, args...)})
}
