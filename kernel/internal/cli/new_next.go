package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/scaffold"
)

// nextSteps are what a new project is used by. A release installs its providers; whoever has built agent has no release of
// them, and names the binaries that were built along with it.
func (a *app) nextSteps(providers []string) []string {
	use := []string{"agent tools", "agent shell"}
	cwd, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	global, err := config.LoadGlobal(config.GlobalPath(), config.Scope{Cwd: cwd, Home: home, LookupEnv: os.LookupEnv})
	if err != nil { // which the next command explains
		return slices.Insert(use, 0, "agent validate")
	}
	missing := slices.DeleteFunc(slices.Clone(providers), func(name string) bool {
		_, named := global.DevOverrides[name]
		return named
	})
	if len(missing) == 0 {
		return use
	}
	if _, released := scaffold.Released(a.version); released {
		return slices.Insert(use, 0, "agent init")
	}
	file := (&project{home: home}).short(global.File)
	return slices.Insert(use, 0, fmt.Sprintf("name the providers that were built with this agent in %s (or agent init: the newest release)\n%s",
		file, overrides(missing)))
}

// overrides is the block that names binaries: those beside this one, where there are such.
func overrides(providers []string) string {
	self, _ := os.Executable()
	longest := 0
	for _, name := range providers {
		longest = max(longest, len(name))
	}
	var b strings.Builder
	b.WriteString("dev_overrides {\n")
	for _, name := range providers {
		path := filepath.Join(filepath.Dir(self), "provider-"+name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			path = "/path/to/provider-" + name
		}
		fmt.Fprintf(&b, "  %-*s = %q\n", longest, name, path)
	}
	b.WriteString("}")
	return b.String()
}
