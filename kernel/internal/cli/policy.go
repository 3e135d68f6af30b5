package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/policy"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "List the policies, explain and test them",
		Long: `List the policies of agent.hcl, the most specific first.

Of the policies that match a call the most specific decides: command before arguments before tool_name before
provider before risk before kind. Of equally specific ones the strictest does: deny before ask before allow.

  command    patterns of shell commands: command = ["go test *", "git status"]. Every command of the script must
             be one of them, word by word; a last * is any further words, a * within a word is any text without
             a slash. Redirections to files, $variables, substitutions, assignments, functions and & never match.
  arguments  globs of text arguments: arguments = { path = "docs/**" }. Paths are compared without . and .. in
             them, from the folder of agent.hcl; "${path.home}/x" is absolute. All values of a list must match.

A policy that asks or denies also holds for what may turn out to match: git push behind sudo, in $(…) or as
git -C . push, SECRET for secret, and for path every argument that is one.

Changes of files that decide what runs (agent.hcl, .agent, .git, the configurations of assistants) are asked
about, unless an allow names the file in its arguments.`,
		Example: `  agent policy
  agent policy explain bash.bash command='go test ./...'
  agent policy test policy.test.hcl`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.policies() },
	}
	cmd.AddCommand(a.policyExplainCommand(), a.policyTestCommand())
	return cmd
}

// ruleJSON is a policy block.
type ruleJSON struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Action string `json:"action"`
	Match  string `json:"match"`
}

func ruleOf(r policy.Rule) ruleJSON {
	return ruleJSON{Name: r.Name, Source: r.Source, Action: r.Action.String(), Match: r.Match.String()}
}

func (a *app) policies() error {
	p, err := a.read()
	if err != nil {
		return err
	}
	set, err := policy.New(p.Policies)
	if err != nil {
		return err
	}
	rules := []ruleJSON{}
	var rows [][]string
	for _, r := range set.Ranked() {
		rule := ruleOf(r)
		rules = append(rules, rule)
		rows = append(rows, []string{rule.Name, rule.Action, orDash(rule.Match), rule.Source})
	}
	switch {
	case a.flags.json:
		a.writeJSON(map[string]any{"policies": rules})
	case len(rows) == 0:
		a.printf("%s has no policies: what reads or asks is allowed, what changes something is asked about\n", shown(p.cwd, p.File))
	default:
		a.table([]string{"NAME", "ACTION", "MATCH", "WHERE"}, rows)
	}
	return nil
}

// providersOf are the providers that must be started to know an operation: which of them has a command, only they know.
func providersOf(target string) []string {
	if provider, _, ok := strings.Cut(target, "."); ok && !strings.HasPrefix(target, "/") {
		return []string{provider}
	}
	return nil
}

// find looks up PROVIDER.TOOL or /COMMAND.
func find(s *engine.Session, target string) (engine.Operation, error) {
	provider, tool, dotted := strings.Cut(target, ".")
	if !dotted || strings.HasPrefix(target, "/") {
		return s.LookupCommand(target)
	}
	return s.Lookup(provider, tool)
}
