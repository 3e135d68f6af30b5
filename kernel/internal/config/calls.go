package config

import (
	"bytes"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/schema"
)

// Bounds of a list of calls. Arguments can be whole files, so it may be larger than what a person writes.
const (
	maxCallsBytes = 16 << 20
	maxCalls      = 1000
)

// Call is one entry of a list of calls.
type Call struct {
	// Name is unique in its list.
	Name string
	// Operation is PROVIDER.TOOL or /COMMAND.
	Operation string
	Arguments *structpb.Struct
	// After are the names of the calls above that must have come to a good end first. Nil: nothing is said about that.
	After []string
	// Timeout is the deadline of the call. Zero: nothing is said about that.
	Timeout time.Duration

	at, operation, arguments hcl.Range
	values                   map[string]hcl.Range // where each argument stands
	file                     *file
}

// Position says where the call stands, as FILE:LINE:COLUMN.
func (c Call) Position() string { return position(c.at) }

// OperationErrorf is a problem of what the call names.
func (c Call) OperationErrorf(summary, detail string, args ...any) Diagnostics {
	return c.file.render(hcl.Diagnostics{errorAt(c.operation, summary, detail, args...)})
}

// ArgumentErrors are problems of the arguments, each shown where it is.
func (c Call) ArgumentErrors(problems []schema.Problem) Diagnostics {
	var diags hcl.Diagnostics
	for _, p := range problems {
		at := c.arguments
		if r, ok := c.values[topmost(p.Path)]; ok {
			at = r
		}
		diags = append(diags, errorAt(at, "Invalid arguments for "+c.Operation, "%s.", sentence(problemError{p})))
	}
	return c.file.render(diags)
}

type problemError struct{ schema.Problem }

func (p problemError) Error() string { return p.String() }

// topmost is the argument that a path leads into.
func topmost(path string) string {
	for i, r := range path {
		if r == '.' || r == '[' {
			return path[:i]
		}
	}
	return path
}

// LoadCalls reads a list of calls, as HCL
//
//	call "new notes" {
//	  operation = "filesystem.write_file"
//	  arguments = { path = "notes.md", content = "…" }
//	}
//
// or as JSON: a list of objects with the same names, and name for the label, or an object that has it as "calls". shown is
// the name that diagnostics give it. The error is of type Diagnostics and holds everything that is wrong with the list as it
// stands. With it come the calls, so that it can be said at once what else is wrong with them: one has no Operation, or nil
// for its Arguments, when these cannot be read.
func LoadCalls(src []byte, shown string, scope Scope) ([]Call, error) {
	l := &loader{scope: scope, first: map[string]hcl.Range{}}
	c := &calls{loader: l, names: map[string]bool{}}
	switch {
	case len(src) > maxCallsBytes:
		l.file = &file{name: shown, body: &hclsyntax.Body{}}
		l.diags = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: shown + " is too large", Detail: "A list of calls has at most " + strconv.Itoa(maxCallsBytes>>20) + " MiB."}}
	case isJSON(src):
		c.readJSON(src, shown)
	default:
		c.readHCL(src, shown)
	}
	if len(c.list) == 0 && !l.diags.HasErrors() {
		l.diags = append(l.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: shown + " has no calls", Detail: "Write call \"NAME\" { … }."})
	}
	return c.list, l.file.render(l.diags).errorsOnly()
}

// isJSON tells the two languages apart: nothing in HCL begins with a bracket.
func isJSON(src []byte) bool {
	src = bytes.TrimLeft(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(src) > 0 && (src[0] == '[' || src[0] == '{')
}

// calls reads a list of calls, whatever it is written in.
type calls struct {
	*loader
	list  []Call
	names map[string]bool
}

// entry is one call as it is written.
type entry struct {
	name          string
	at            hcl.Range // all of it, or its head
	fields        []field
	readArguments func(c *Call, expr hcl.Expression)
}

type field struct {
	name string
	at   hcl.Range
	expr hcl.Expression
}

var callAttributes = []string{"operation", "arguments", "after", "timeout"}

// add reads one call. Of what is wrong with it nothing is left out.
func (l *calls) add(e entry, known []string) {
	if len(l.list) == maxCalls {
		l.fail(e.at, "Too many calls", "A list has at most %d.", maxCalls)
		return
	}
	if first, seen := l.first[e.name]; seen && e.name != "" {
		l.fail(e.at, "Duplicate call "+quoted(e.name), "The first one is at %s. Give this one another name.", position(first))
	} else {
		l.first[e.name] = e.at
	}
	c := Call{Name: e.name, Arguments: &structpb.Struct{}, at: e.at, operation: e.at, arguments: e.at, file: l.file}
	given := map[string]bool{}
	for _, a := range e.fields {
		if given[a.name] {
			l.fail(a.at, quoted(a.name)+" is given twice", "Keep one of them.")
			continue
		}
		given[a.name] = true
		switch a.name {
		case "name": // has been read, and HCL has none
		case "operation":
			c.Operation, c.operation = l.constant(a.expr), a.expr.Range()
		case "arguments":
			c.arguments = a.expr.Range()
			before := len(l.diags)
			if e.readArguments(&c, a.expr); len(l.diags) > before {
				c.Arguments = nil
			}
		case "after":
			c.After = l.after(a.expr)
		case "timeout":
			c.Timeout = l.duration(a.expr)
		default:
			l.fail(a.at, "Unknown argument "+quoted(a.name)+schema.Hint(a.name, known), "A call has %s. What its operation takes belongs into arguments.", list(known))
		}
	}
	if !given["operation"] {
		l.fail(e.at, "Missing operation", "A call needs operation = \"PROVIDER.TOOL\" or \"/COMMAND\".")
	}
	l.names[c.Name] = true
	l.list = append(l.list, c)
}

// constant reads text that is not empty.
func (l *calls) constant(expr hcl.Expression) string {
	v, diags := expr.Value(nil)
	if diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return ""
	}
	s, ok := asString(v)
	if !ok || s == "" {
		l.fail(expr.Range(), "Expected text", "Write it in double quotes.")
	}
	return s
}

// after reads the names of calls above.
func (l *calls) after(expr hcl.Expression) []string {
	exprs, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		l.fail(expr.Range(), "Expected a list", "Write the names of calls above: after = [\"NAME\"], or [] for none.")
		return nil
	}
	names := make([]string, 0, len(exprs))
	for _, e := range exprs {
		name := l.constant(e)
		if name != "" && !l.names[name] {
			l.fail(e.Range(), "No call "+quoted(name)+" above"+schema.Hint(name, l.above()), "A call can only come after those that stand before it.")
		}
		names = append(names, name)
	}
	return names
}

func (l *calls) above() []string {
	names := make([]string, len(l.list))
	for i, c := range l.list {
		names[i] = c.Name
	}
	return names
}

func (l *calls) duration(expr hcl.Expression) time.Duration {
	text := l.constant(expr)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		l.fail(expr.Range(), "Invalid timeout "+quoted(text), "Write a time such as \"90s\" or \"5m\".")
		return 0
	}
	return d
}
