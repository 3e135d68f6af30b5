package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check agent.hcl, with the providers it names",
		Long: `Check agent.hcl: its syntax, then each provider block against the provider's own schema, then whether
the provider accepts it. The providers are started for this and ended again; nothing is called.`,
		Example: `  agent validate
  agent validate -C path/to/project --json`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.validate() },
	}
}

func (a *app) validate() error {
	p, err := a.check()
	if a.flags.json {
		answer := struct {
			Valid bool       `json:"valid"`
			Error *errorJSON `json:"error,omitempty"`
		}{Valid: err == nil}
		if err != nil {
			d := describe(err)
			answer.Error = &d
			a.silent = true
		}
		a.writeJSON(answer)
		return err
	}
	if err == nil {
		a.printf("%s %s: %s, %s\n", a.display.OutPainter().Success("valid"), shown(p.cwd, p.File),
			count(len(p.Providers), "provider", "providers"), count(len(p.Policies), "policy", "policies"))
	}
	return err
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// check does what can be done without calling anything.
func (a *app) check() (*project, error) {
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
