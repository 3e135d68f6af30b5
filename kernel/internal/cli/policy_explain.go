package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/policy"
)

func (a *app) policyExplainCommand() *cobra.Command {
	var args string
	cmd := &cobra.Command{
		Use:   "explain PROVIDER.TOOL|/COMMAND [NAME=VALUE …]",
		Short: "Say what would be decided about a call, and why",
		Long: `Say what would be decided about a call: which policy decides, why each other one does not, and what a
person would be shown of it. The provider is asked for its preview; nothing is called.

Arguments are written as for 'agent invoke' and 'agent run'. The exit code is 0 whatever would be decided.`,
		Example: `  agent policy explain bash.bash command='go test ./... && rm -rf build'
  agent policy explain filesystem.write_file path=docs/../secret content=x --json
  agent policy explain /release version=1.4.0`,
		Args:              atLeastOne("PROVIDER.TOOL or /COMMAND [NAME=VALUE …]; 'agent tools' lists them"),
		ValidArgsFunction: a.completeExplained,
		RunE: func(_ *cobra.Command, words []string) error {
			return a.policyExplain(args, words[0], words[1:])
		},
	}
	cmd.Flags().StringVar(&args, "args", "", "arguments as a `JSON` object, or @FILE to read them, @- from stdin")
	return cmd
}

// completeExplained offers what invoke and run together do.
func (a *app) completeExplained(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	target := word
	if len(args) > 0 {
		target = args[0]
	}
	return a.completeCall(strings.HasPrefix(target, "/"))(cmd, args, word)
}

func (a *app) policyExplain(args, target string, words []string) error {
	names := providersOf(target)
	if names == nil && !strings.HasPrefix(target, "/") {
		return a.notATool(target, engine.Operation.String)
	}
	p, err := a.open(names...)
	if err != nil {
		return err
	}
	e, err := a.prepareNamed(p, names)
	if e == nil {
		return err
	}
	defer e.Close()
	if err != nil {
		return err
	}
	session := e.Session(engine.SessionOptions{}) // what is out of scope is explained, too
	op, err := find(session, target)
	if err != nil {
		return err
	}
	parsed, err := parseArguments(a.ctx, op.Input, args, words, op.IsCommand())
	if err != nil {
		return err
	}
	x, problem := session.Explain(a.ctx, engine.Request{Operation: op, Arguments: parsed})
	if problem != nil {
		return usagef("%s", problem.GetMessage())
	}
	refused := p.outOfScope(op, &x)
	if a.flags.json {
		explained := explanationOf(op, x)
		explained.OutOfScope = refused
		a.writeJSON(explained)
		return nil
	}
	a.showExplanation(op, x, refused)
	return nil
}

// outOfScope makes a denial of an explanation of what the profile does not have, and says what would take it in.
func (p *project) outOfScope(op engine.Operation, x *engine.Explanation) string {
	if p.sees(op) {
		return ""
	}
	x.Action, x.By, x.Rule, x.Why = policy.Deny, p.profileText(), nil, ""
	for i := range x.Rules {
		if x.Rules[i].Won {
			x.Rules[i].Won, x.Rules[i].Why = false, "it matches, but the profile comes first"
		}
	}
	return p.profile.Refusal(op.Provider, op.Name, op.IsCommand())
}

func (a *app) showExplanation(op engine.Operation, x engine.Explanation, outOfScope string) {
	p := a.display.OutPainter()
	a.printf("%s is %s by %s\n", p.Bold(paint.Line(op.String())), verdicts[x.Action], paint.Line(x.By))
	if outOfScope != "" {
		a.printf("%s\n", paint.Line(outOfScope))
	}
	if x.Warning != "" {
		a.printf("%s%s\n", p.Warning("warning: "), paint.Text(x.Warning))
	}
	if len(x.Rules) > 0 {
		rows := make([][]string, len(x.Rules))
		for i, r := range x.Rules {
			rows[i] = []string{r.Rule.Source, r.Rule.Name, r.Rule.Action.String(), reason(r)}
		}
		a.printf("\n")
		a.table([]string{"WHERE", "POLICY", "SAYS", "WHY"}, rows)
	}
	a.printf("\n")
	if x.Refusal != nil {
		a.printf("%s refuses it, whatever is decided: %s: %s\n", op.Provider, category(x.Refusal.GetCategory().String()), paint.Text(x.Refusal.GetMessage()))
		return
	}
	a.printf("What it would do:\n")
	for _, line := range barred(x.Preview, p) {
		a.printf("%s\n", line)
	}
}

var verdicts = map[policy.Action]string{policy.Allow: "allowed", policy.Ask: "asked about", policy.Deny: "denied"}

// reason says why a rule decided, or why not.
func reason(j policy.Judged) string {
	switch {
	case j.Won && j.Why == "":
		return "decides"
	case j.Won:
		return "decides: " + j.Why
	default:
		return j.Why
	}
}

// explanationJSON is what `agent policy explain --json` writes.
type explanationJSON struct {
	Operation string `json:"operation"`
	Decision  string `json:"decision"`
	DecidedBy string `json:"decided_by"`
	Warning   string `json:"warning,omitempty"`
	// OutOfScope says why the profile does not have the operation; absent when it does.
	OutOfScope string          `json:"out_of_scope,omitempty"`
	Rules      []judgedJSON    `json:"rules"`
	Preview    json.RawMessage `json:"preview,omitempty"`
	Refusal    json.RawMessage `json:"refusal,omitempty"`
}

type judgedJSON struct {
	ruleJSON
	Decides bool   `json:"decides"`
	Why     string `json:"why,omitempty"`
}

func explanationOf(op engine.Operation, x engine.Explanation) explanationJSON {
	out := explanationJSON{
		Operation: op.String(), Decision: x.Action.String(), DecidedBy: x.By, Warning: x.Warning, Rules: []judgedJSON{},
	}
	for _, r := range x.Rules {
		out.Rules = append(out.Rules, judgedJSON{ruleOf(r.Rule), r.Won, r.Why})
	}
	if x.Preview != nil {
		out.Preview = protoJSON(x.Preview)
	}
	if x.Refusal != nil {
		out.Refusal = eventJSON(x.Refusal)
	}
	return out
}
