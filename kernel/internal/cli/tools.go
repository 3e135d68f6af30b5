package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/schema"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func (a *app) toolsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tools [PROVIDER | PROVIDER.TOOL | /COMMAND]",
		Short: "List the tools and commands of the project",
		Long:  `List the tools and slash commands of the project's providers, or show one with its arguments.`,
		Example: `  agent tools
  agent tools filesystem
  agent tools filesystem.edit_file
  agent tools /release`,
		Args:              noMoreThan(1),
		ValidArgsFunction: a.completeNames(true),
		RunE:              func(_ *cobra.Command, args []string) error { return a.tools(strings.Join(args, "")) },
	}
}

func (a *app) tools(which string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	provider, tool, one := strings.Cut(which, ".")
	command := strings.HasPrefix(which, "/")
	var names []string
	if which != "" && !command {
		if err := p.named(provider); err != nil {
			return a.betterGuess(p, err, which)
		}
		names = []string{provider}
	}
	e, err := a.prepare(p, names...)
	if e == nil {
		return err
	}
	defer e.Close()
	s := e.Session(p.scoped(engine.SessionOptions{}))
	var op engine.Operation
	var lookupErr error
	switch {
	case command:
		op, lookupErr = s.LookupCommand(which)
	case one:
		op, lookupErr = s.Lookup(provider, tool)
	default:
		a.listTools(s.Operations(), err)
		return err
	}
	if err == nil {
		err = lookupErr
	}
	if lookupErr == nil {
		a.showTool(op)
	}
	return err
}

// betterGuess is the error about a provider that is none, with the tool or command of that name if there is one.
func (a *app) betterGuess(p *project, err error, word string) error {
	var lookup *engine.LookupError
	if errors.As(err, &lookup) && lookup.Suggestion == "" {
		return mistaken(lookup.Text, a.everything(p), word, engine.Operation.String)
	}
	return err
}

// listTools lists what there is although some providers may have failed.
func (a *app) listTools(ops []engine.Operation, failed error) {
	if a.flags.json {
		a.writeJSON(toolsOf(ops, failed))
		a.silent = true
		return
	}
	if len(ops) == 0 {
		return
	}
	rows := make([][]string, len(ops))
	for i, op := range ops {
		summary, _, _ := strings.Cut(op.Description, "\n")
		rows[i] = []string{op.String(), kindAndRisk(op), summary}
	}
	a.table([]string{"NAME", "KIND", "DESCRIPTION"}, rows)
}

func toolsOf(ops []engine.Operation, failed error) map[string]any {
	list := make([]operationJSON, len(ops))
	for i, op := range ops {
		list[i] = operationOf(op)
	}
	all := map[string]any{"tools": list}
	if failed != nil {
		all["error"] = describe(failed)
	}
	return all
}

func (a *app) showTool(op engine.Operation) {
	if a.flags.json {
		a.writeJSON(operationOf(op))
		return
	}
	p := a.display.OutPainter()
	a.printf("%s · %s\n%s", p.Bold(paint.Line(op.String())), kindAndRisk(op), prose(strings.TrimSpace(op.Description), "", nil, p))
	rows := argumentRows(op.Input, "")
	if len(rows) == 0 {
		a.printf("\nIt takes no arguments.\n")
		return
	}
	a.printf("\n")
	a.table([]string{"ARGUMENT", "TYPE", "", "DESCRIPTION"}, rows)
}

// argumentRows lists the arguments, the required ones first, the members of objects below them.
func argumentRows(s *schemav1.Schema, prefix string) [][]string {
	var rows [][]string
	for _, name := range argumentNames(s) {
		property := s.GetProperties()[name]
		needed := ""
		if slices.Contains(s.GetRequired(), name) {
			needed = "required"
		}
		kind := schema.TypeName(property)
		if values := property.GetEnumValues(); len(values) > 0 {
			kind = strings.Join(values, " | ")
		}
		rows = append(rows, []string{prefix + name, kind, needed, property.GetDescription()})
		inner := property
		if property.GetItems() != nil {
			inner = property.GetItems()
		}
		rows = append(rows, argumentRows(inner, prefix+"  ")...)
	}
	return rows
}

func argumentNames(s *schemav1.Schema) []string {
	var optional []string
	for name := range s.GetProperties() {
		if !slices.Contains(s.GetRequired(), name) {
			optional = append(optional, name)
		}
	}
	slices.Sort(optional)
	return append(slices.Clone(s.GetRequired()), optional...)
}

func kindAndRisk(op engine.Operation) string {
	switch op.Kind {
	case toolv1.ToolKind_TOOL_KIND_DATA_SOURCE:
		return "reads"
	case toolv1.ToolKind_TOOL_KIND_INTERACTIVE:
		return "asks"
	default:
		return "changes, risk " + risk(op.Risk)
	}
}

func risk(r toolv1.RiskClass) string {
	return strings.ToLower(strings.TrimPrefix(r.String(), "RISK_CLASS_"))
}

// operationJSON is an operation with the field names of the protocol.
type operationJSON struct {
	Provider       string          `json:"provider"`
	Name           string          `json:"name"`
	Category       string          `json:"category"`
	Kind           string          `json:"kind"`
	Risk           string          `json:"risk"`
	Description    string          `json:"description"`
	InputSchema    json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema   json.RawMessage `json:"output_schema,omitempty"`
	Concurrency    json.RawMessage `json:"concurrency,omitempty"`
	DefaultTimeout string          `json:"default_timeout,omitempty"`
	Streaming      bool            `json:"streaming"`
	Idempotent     bool            `json:"idempotent"`
}

func operationOf(op engine.Operation) operationJSON {
	out := operationJSON{
		Provider: op.Provider, Name: op.Name, Category: op.Category.String(), Kind: op.Kind.String(), Risk: op.Risk.String(),
		Description: op.Description, Streaming: op.Streaming, Idempotent: op.Idempotent,
	}
	if op.Input != nil {
		out.InputSchema = protoJSON(op.Input)
	}
	if op.Output != nil {
		out.OutputSchema = protoJSON(op.Output)
	}
	if op.Concurrency != nil {
		out.Concurrency = protoJSON(op.Concurrency)
	}
	if op.Timeout > 0 {
		out.DefaultTimeout = op.Timeout.String()
	}
	return out
}
