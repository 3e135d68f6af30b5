package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/scaffold"
)

// nextSteps are the commands that a new project is used by, and what the first of them is for where that is to be said. A
// release installs its providers; whoever has built agent has no release of them, and names the binaries that were built
// along with it.
func (a *app) nextSteps(providers []string) (commands []string, why string) {
	use := []string{"agent tools", "agent shell"}
	cwd, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	global, err := config.LoadGlobal(config.GlobalPath(), config.Scope{Cwd: cwd, Home: home, LookupEnv: os.LookupEnv})
	if err != nil { // which the next command explains
		return slices.Insert(use, 0, "agent validate"), ""
	}
	missing := slices.DeleteFunc(slices.Clone(providers), func(name string) bool {
		_, named := global.DevOverrides[name]
		return named
	})
	if len(missing) == 0 {
		return use, ""
	}
	if _, released := scaffold.Released(a.version); released {
		return slices.Insert(use, 0, "agent init"), ""
	}
	why = "names the providers that were built with this agent in " + (&project{home: home}).short(global.File) +
		"; or agent init, for the newest release"
	return slices.Insert(use, 0, overrideCommand(missing)), why
}

// overrideCommand names the binaries of providers: those beside this program, where there are such.
func overrideCommand(providers []string) string {
	words := []string{"agent providers override --write"}
	for _, name := range providers {
		if _, err := program(builtBeside(name)); err != nil {
			name += "=/path/to/provider-" + name
		}
		words = append(words, name)
	}
	return strings.Join(words, " ")
}
