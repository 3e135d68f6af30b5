package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schema"
)

func (a *app) policyTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test FILE",
		Short: "Check that the policies decide as a file expects",
		Long: `Check that the policies of agent.hcl decide about the calls of a file as it expects. The file holds blocks:

  call "tests run" {
    operation = "bash.bash"
    arguments = { command = "go test ./..." }
    expect    = "allow"
  }

expect is allow, ask or deny; path.root and path.cwd may be used in arguments. The providers are started, to know
what their operations are; nothing is called. The exit code is 1 when anything is decided otherwise.`,
		Example: `  agent policy test policy.test.hcl
  agent policy test policy.test.hcl --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(atLeastOne("FILE")(cmd, args), noMoreThan(1)(cmd, args))
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.policyTest(args[0]) },
	}
}

// testedJSON is one call of a file of policy tests.
type testedJSON struct {
	Name      string `json:"name"`
	Source    string `json:"source"`
	Operation string `json:"operation"`
	Expected  string `json:"expected"`
	Decision  string `json:"decision"`
	DecidedBy string `json:"decided_by"`
	OK        bool   `json:"ok"`
}

func (a *app) policyTest(file string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return usagef("cannot read %s: %w", file, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no file %s%s: give one of call blocks, as agent policy test --help has it", file, schema.Hint(filepath.Base(file), namesIn(filepath.Dir(path))))
	}
	cases, err := config.LoadPolicyCases(path, file, config.Scope{Root: p.Root, Cwd: p.cwd, Home: p.home})
	if err != nil {
		return err
	}
	e, err := a.prepare(p)
	if e == nil {
		return err
	}
	defer e.Close()
	if err != nil {
		return err
	}
	session := e.Session(engine.SessionOptions{})
	var tested []testedJSON
	var problems []error
	for _, c := range cases {
		t, err := decided(p, session, c)
		tested, problems = append(tested, t), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return a.showTested(tested)
}

// decided compares one decision with what is expected. A call that cannot be is a problem of the file.
func decided(p *project, s *engine.Session, c config.PolicyCase) (testedJSON, error) {
	op, err := find(s, c.Operation)
	if err != nil {
		return testedJSON{}, c.Errorf("There is no operation "+fmt.Sprintf("%q", c.Operation), "%s.", err)
	}
	decision, _, problem := s.Decide(engine.Request{Operation: op, Arguments: c.Arguments})
	if problem != nil {
		return testedJSON{}, c.Errorf("Invalid arguments", "%s.", problem.GetMessage())
	}
	if !p.sees(op) {
		decision.Action, decision.By = policy.Deny, p.profileText()
	}
	return testedJSON{
		Name: c.Name, Source: c.Position(), Operation: op.String(), Expected: c.Expect.String(),
		Decision: decision.Action.String(), DecidedBy: decision.By, OK: decision.Action == c.Expect,
	}, nil
}

func (a *app) showTested(tested []testedJSON) error {
	var rows [][]string
	for _, t := range tested {
		if !t.OK {
			rows = append(rows, []string{t.Source, t.Name, t.Operation, t.Expected, t.Decision, t.DecidedBy})
		}
	}
	a.silent = a.flags.json
	switch {
	case a.flags.json:
		a.writeJSON(map[string]any{"passed": len(tested) - len(rows), "failed": len(rows), "calls": tested})
	case len(rows) == 0:
		a.printf("%s %s, decided as expected\n", a.display.OutPainter().Success("ok"), count(len(tested), "call", "calls"))
	default:
		a.table([]string{"WHERE", "CALL", "OPERATION", "EXPECTED", "DECIDED", "BY"}, rows)
	}
	if len(rows) > 0 {
		return fmt.Errorf("%d of %s decided otherwise than expected", len(rows), count(len(tested), "call is", "calls are"))
	}
	return nil
}
