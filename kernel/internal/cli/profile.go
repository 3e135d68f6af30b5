package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/schema"
)

// addProfileFlag gives every command the flag, with the names there are.
func (a *app) addProfileFlag(root *cobra.Command) {
	root.PersistentFlags().StringVar(&a.flags.profile, "profile", "",
		"work with what the agent_profile of this `name` has (default: the one called default, if there is one)")
	_ = root.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.display.Silence()
		a.flags.profile = "" // what is being written is none yet
		var names []cobra.Completion
		if a.enter() == nil {
			if p, err := a.read(); err == nil {
				for _, profile := range p.Profiles {
					names = append(names, profile.Name)
				}
			}
		}
		return names, noFiles
	})
}

// useProfile chooses the profile that a command works under: the one of the flag, else the default one, if there is
// one, else none.
func (a *app) useProfile(p *project) error {
	name := a.flags.profile
	if name == "" {
		p.profile = p.Profile(config.DefaultProfile)
		return nil
	}
	if p.profile = p.Profile(name); p.profile != nil {
		return nil
	}
	var names []string
	for _, known := range p.Profiles {
		names = append(names, known.Name)
	}
	file := shown(p.cwd, p.File)
	if len(names) == 0 {
		return usagef("--profile %s: %s has no profiles; write agent_profile %q { tools = [ … ] }", name, file, name)
	}
	return usagef("--profile %s: there is no such agent_profile in %s%s: it has %s", name, file, schema.Hint(name, names), strings.Join(names, ", "))
}

// scoped limits a session to the profile.
func (p *project) scoped(o engine.SessionOptions) engine.SessionOptions {
	if p.profile == nil {
		return o
	}
	o.Scope = p.sees
	o.OutOfScope = func(op engine.Operation) string {
		return p.profile.Refusal(op.Provider, op.Name, op.IsCommand())
	}
	return o
}

// sees reports whether an operation is in scope.
func (p *project) sees(op engine.Operation) bool {
	switch {
	case p.profile == nil:
		return true
	case op.IsCommand():
		return p.profile.HasCommand(op.Provider, op.Name)
	default:
		return p.profile.HasTool(op.Provider, op.Name)
	}
}

// profileText says which profile it is, and where it stands.
func (p *project) profileText() string {
	return fmt.Sprintf("agent_profile %q (%s)", p.profile.Name, p.profile.Position())
}
