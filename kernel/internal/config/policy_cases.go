package config

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/policy"
)

// PolicyCase is a call and what is expected to be decided about it.
type PolicyCase struct {
	Name string
	// Operation is PROVIDER.TOOL or /COMMAND.
	Operation string
	Arguments *structpb.Struct
	Expect    policy.Action

	at   *block
	file *file
}

// Position says where the case stands, as FILE:LINE:COLUMN.
func (c PolicyCase) Position() string { return position(c.at.DefRange()) }

// Errorf is a problem of the case as a whole.
func (c PolicyCase) Errorf(summary, detail string, args ...any) Diagnostics {
	return c.file.render(hcl.Diagnostics{errorAt(c.at.DefRange(), summary, detail, args...)})
}

var caseArguments = []string{"operation", "arguments", "expect"}

// LoadPolicyCases reads a file of calls with what is expected to be decided about them:
//
//	call "tests run" {
//	  operation = "bash.bash"
//	  arguments = { command = "go test ./..." }
//	  expect    = "allow"
//	}
//
// shown is the name that diagnostics give the file. The error is of type Diagnostics.
func LoadPolicyCases(path, shown string, scope Scope) ([]PolicyCase, error) {
	f, syntax := open(path, shown)
	return loadPolicyCases(f, syntax, scope)
}

func loadPolicyCases(f *file, syntax hcl.Diagnostics, scope Scope) ([]PolicyCase, error) {
	l := &loader{file: f, scope: scope, syntax: syntax, diags: syntax, first: map[string]hcl.Range{}}
	for _, a := range sortedAttributes(f.body) {
		l.fail(a.NameRange, "Unexpected argument", "%q stands outside of any block. Write call \"NAME\" { … }.", a.Name)
	}
	var cases []PolicyCase
	for _, b := range f.body.Blocks {
		switch {
		case l.broken(b):
		case b.Type != "call":
			l.fail(b.TypeRange, "Unknown block "+quoted(b.Type), "%sA file of policy tests holds call blocks.", didYouMean(b.Type, []string{"call"}))
		case l.labelled(b, "name") && l.unique(b):
			cases = append(cases, l.policyCase(b))
		}
	}
	if len(f.body.Blocks) == 0 && !l.diags.HasErrors() {
		l.diags = append(l.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: f.name + " has no calls", Detail: "Nothing would be tested. Write call \"NAME\" { … }."})
	}
	return cases, f.render(l.diags).errorsOnly()
}

func (l *loader) policyCase(b *block) PolicyCase {
	c := PolicyCase{Name: b.Labels[0], Arguments: &structpb.Struct{}, at: b, file: l.file}
	for _, inner := range b.Body.Blocks {
		l.fail(inner.DefRange(), "Unexpected block "+quoted(inner.Type), "Write it as an argument: %s = { … }.", inner.Type)
	}
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "operation":
			c.Operation = l.nonEmpty(a.Expr)
		case "arguments":
			c.Arguments = l.arguments(a.Expr)
		case "expect":
			c.Expect = choice(l, a.Expr, "decision", policyActions, policy.ParseAction)
		default:
			l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA call has operation, arguments and expect.", didYouMean(a.Name, caseArguments))
		}
	}
	for _, name := range []string{"operation", "expect"} {
		if b.Body.Attributes[name] == nil {
			l.fail(b.DefRange(), "Missing "+name, "A call needs operation = \"PROVIDER.TOOL\" or \"/COMMAND\", and expect = \"allow\", \"ask\" or \"deny\".")
		}
	}
	return c
}

// arguments reads the arguments of a call. The paths are there, as in agent.hcl.
func (l *loader) arguments(expr hclsyntax.Expression) *structpb.Struct {
	s := &structpb.Struct{}
	v, diags := expr.Value(l.scope.pathContext())
	if diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return s
	}
	err := errors.New("write arguments = { NAME = VALUE }")
	if v.IsWhollyKnown() && v.Type().IsObjectType() && !v.IsNull() {
		var text []byte
		if text, err = ctyjson.Marshal(v, v.Type()); err == nil {
			err = s.UnmarshalJSON(text)
		}
	}
	if err != nil {
		l.fail(expr.Range(), "Invalid arguments", "%s.", sentence(err))
	}
	return s
}
