package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
)

func (a *app) validateCommand() *cobra.Command {
	var offline bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check agent.hcl, with the providers it names",
		Long: `Check agent.hcl: its syntax, then each provider block against the provider's own schema, then whether
the provider accepts it, and whether what policies and profiles name is there. The providers are started for
this and ended again; nothing is called. With --offline everything is checked that needs no provider.

With --json stdout holds {"valid", "diagnostics", "error"}: each diagnostic has severity, summary, detail, file,
range (line and column from 1, byte from 0), source and suggestion; error is what is not the fault of a file.`,
		Example: `  agent validate
  agent validate --offline
  agent validate -C path/to/project --json`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.validate(offline) },
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "start no provider: check what can be told without them")
	return cmd
}

// validityJSON is what `agent validate --json` writes.
type validityJSON struct {
	Valid bool `json:"valid"`
	// Offline is set when the providers were not asked.
	Offline     bool                `json:"offline"`
	Diagnostics []config.Diagnostic `json:"diagnostics"`
	// Error is what no line of a file is at fault for, such as a provider that does not start.
	Error *errorJSON `json:"error,omitempty"`
}

func (a *app) validate(offline bool) error {
	p, err := a.check(offline)
	if a.flags.json {
		a.writeJSON(validity(p, offline, err))
		a.silent = true
		return err
	}
	if err == nil {
		how := ""
		if offline {
			how = ", as far as can be told without the providers"
		}
		a.printf("%s %s: %s, %s%s\n", a.display.OutPainter().Success("valid"), shown(p.cwd, p.File),
			count(len(p.Providers), "provider", "providers"), count(len(p.Policies), "policy", "policies"), how)
	}
	return err
}

func validity(p *project, offline bool, err error) validityJSON {
	out := validityJSON{Valid: err == nil, Offline: offline, Diagnostics: diagnosticsIn(err)}
	if p != nil {
		out.Diagnostics = append(slices.Clone([]config.Diagnostic(p.Warnings)), out.Diagnostics...)
	}
	if out.Diagnostics == nil {
		out.Diagnostics = []config.Diagnostic{}
	}
	var other []string
	for _, e := range flatten(err) {
		if files := (config.Diagnostics)(nil); !errors.As(e, &files) {
			other = append(other, e.Error())
		}
	}
	if len(other) > 0 {
		out.Error = &errorJSON{Message: strings.Join(other, "\n")}
	}
	return out
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// check does what can be done without calling anything. The project is nil when it cannot be read.
func (a *app) check(offline bool) (*project, error) {
	if offline {
		return a.read()
	}
	p, err := a.open()
	if err != nil {
		return nil, err
	}
	e, err := a.start(p)
	if e != nil {
		a.tellImpostors(p, e)
		e.Close()
	}
	return p, err
}
