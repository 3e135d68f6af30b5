package scenario

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// longest is the longest text that repeat makes: well above what one message carries.
const longest = 8 << 20

// In evaluates the scenario for a working folder.
func (s *Scenario) In(workdir string) (*Situation, error) {
	e := evaluation{context: &hcl.EvalContext{
		// What earlier calls return is known when they have been made; see Call.Resolve.
		Variables: map[string]cty.Value{"workdir": cty.StringVal(workdir), "results": cty.DynamicVal},
		Functions: map[string]function.Function{
			"env": envFunction, "repeat": repeatFunction,
			"format": stdlib.FormatFunc, "join": stdlib.JoinFunc, "jsonencode": stdlib.JSONEncodeFunc,
		},
	}}
	out := &Situation{
		Config: e.config(s.config), Environment: e.texts("environment", s.file.Environment), Setup: e.commands(s.file.Setup),
	}
	for _, f := range s.file.Files {
		out.Files = append(out.Files, e.file(f))
	}
	for _, c := range s.file.Calls {
		out.Calls = append(out.Calls, e.call(c))
	}
	return out, errors.Join(e.problems...)
}

// evaluation collects every problem, so that a person sees them all at once.
type evaluation struct {
	context  *hcl.EvalContext
	problems []error
}

func (e *evaluation) add(err error) {
	if err != nil {
		e.problems = append(e.problems, err)
	}
}

// value is an expression's value; cty.NilVal when it is not written or wrong.
func (e *evaluation) value(x hcl.Expression) cty.Value {
	if x == nil {
		return cty.NilVal
	}
	v, diags := x.Value(e.context)
	if diags.HasErrors() {
		e.add(problems(diags))
		return cty.NilVal
	}
	if v.IsNull() {
		return cty.NilVal
	}
	if !v.IsWhollyKnown() {
		e.add(fmt.Errorf("%s: the value cannot be known", x.Range()))
		return cty.NilVal
	}
	return v
}

func (e *evaluation) config(attributes hcl.Attributes) *structpb.Struct {
	if attributes == nil {
		return nil
	}
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name, attribute := range attributes {
		if v := e.value(attribute.Expr); v != cty.NilVal {
			out.Fields[name] = e.wire(attribute.Expr, v)
		}
	}
	return out
}

// object is the value of an expression that must be an object; nil when it is not written.
func (e *evaluation) object(what string, x hcl.Expression) *structpb.Struct {
	v := e.value(x)
	if v == cty.NilVal {
		return nil
	}
	object := e.wire(x, v).GetStructValue()
	if object == nil {
		e.add(fmt.Errorf("%s: %s is %s; write an object, such as { path = \"a.txt\" }", x.Range(), what, v.Type().FriendlyName()))
	}
	return object
}

func (e *evaluation) wire(x hcl.Expression, v cty.Value) *structpb.Value {
	if err := cty.Walk(v, finite); err != nil {
		e.add(fmt.Errorf("%s: %w", x.Range(), err))
		return structpb.NewNullValue()
	}
	text, err := ctyjson.Marshal(v, v.Type())
	out := &structpb.Value{}
	if err == nil {
		err = protojson.Unmarshal(text, out)
	}
	if err != nil {
		e.add(fmt.Errorf("%s: %w", x.Range(), err))
		return structpb.NewNullValue()
	}
	return out
}

// finite refuses numbers that the wire has no form for: written out, they can have a billion digits.
func finite(_ cty.Path, v cty.Value) (bool, error) {
	if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() {
		if f, _ := v.AsBigFloat().Float64(); math.IsInf(f, 0) || (f == 0) != (v.AsBigFloat().Sign() == 0) {
			return false, errors.New("a number is too large or too small for a call")
		}
	}
	return true, nil
}

func (e *evaluation) as(what string, x hcl.Expression, wanted cty.Type) cty.Value {
	v := e.value(x)
	if v == cty.NilVal {
		return cty.NilVal
	}
	out, err := convert.Convert(v, wanted)
	if err != nil || !out.IsWhollyKnown() {
		e.add(fmt.Errorf("%s: %s must be a %s", x.Range(), what, wanted.FriendlyName()))
		return cty.NilVal
	}
	return out
}

// text is the value of an expression that must be a string; nil when it is not written.
func (e *evaluation) text(what string, x hcl.Expression) *string {
	v := e.as(what, x, cty.String)
	if v == cty.NilVal {
		return nil
	}
	out := v.AsString()
	return &out
}

func (e *evaluation) texts(what string, x hcl.Expression) map[string]string {
	v := e.as(what, x, cty.Map(cty.String))
	if v == cty.NilVal {
		return nil
	}
	out := map[string]string{}
	for name, text := range v.AsValueMap() {
		if text.IsNull() {
			e.add(fmt.Errorf("%s: %s.%s is null", x.Range(), what, name))
			continue
		}
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(text.AsString(), 0) {
			e.add(fmt.Errorf("%s: %s.%q is no variable that the system takes", x.Range(), what, name))
			continue
		}
		out[name] = text.AsString()
	}
	return out
}

func (e *evaluation) commands(x hcl.Expression) (out [][]string) {
	v := e.as("setup", x, cty.List(cty.List(cty.String)))
	if v == cty.NilVal {
		return nil
	}
	for _, command := range v.AsValueSlice() {
		var words []string
		if !command.IsNull() {
			for _, word := range command.AsValueSlice() {
				if word.IsNull() {
					words = nil
					break
				}
				words = append(words, word.AsString())
			}
		}
		if len(words) == 0 || words[0] == "" {
			e.add(fmt.Errorf(`%s: a command of setup is empty; write a list of words, such as ["git", "init"]`, x.Range()))
			continue
		}
		out = append(out, words)
	}
	return out
}

func (e *evaluation) file(f fileBlock) File {
	mode, err := parseMode(f.Mode)
	if err == nil {
		err = inside(f.Path)
	}
	if err != nil {
		e.add(fmt.Errorf("file %q: %w", f.Path, err))
	}
	out := File{Path: f.Path, Mode: mode}
	before := len(e.problems)
	if v := e.as("content", f.Content, cty.String); v != cty.NilVal {
		out.Content = v.AsString()
	} else if len(e.problems) == before {
		e.add(fmt.Errorf("file %q: content is missing; an empty file has content = \"\"", f.Path))
	}
	return out
}

func (e *evaluation) call(c callBlock) Call {
	cancel, err := parseCancel(c.CancelAfter)
	out := Call{
		Operation: c.Operation, Name: c.Name, Expect: c.Expect,
		Payload: e.object("payload", c.Payload), Stdout: e.text("stdout", c.Stdout), Stderr: e.text("stderr", c.Stderr), Cancel: cancel, Directory: c.Directory,
		Preview: c.Preview, Render: c.Render, Parallel: c.Parallel,
	}
	if out.Expect == "" {
		out.Expect = "result"
	}
	if refersToResults(c.Arguments) {
		out.late = &late{c.Arguments, e.context}
	} else {
		out.Arguments = e.object("arguments", c.Arguments)
	}
	if out.Arguments == nil {
		out.Arguments = &structpb.Struct{}
	}
	switch {
	case err != nil:
	case !slices.Contains(expectations, out.Expect):
		err = fmt.Errorf("expect is %q; a call ends with one of %s", c.Expect, strings.Join(expectations, ", "))
	case c.Directory != "":
		err = inside(c.Directory)
	case out.Payload != nil && out.Expect != "result":
		err = fmt.Errorf("payload is given, but expect is %q; only a result has one", out.Expect)
	case out.late != nil && (cancel != nil || c.Parallel):
		err = errors.New("its arguments refer to results, so it can neither be cancelled nor parallel: those calls have processes of their own")
	case cancel != nil && (c.Expect != "" || c.Parallel || c.Render || out.Payload != nil || out.Stdout != nil || out.Stderr != nil):
		err = errors.New("a call with cancel_after has no expect, payload, stdout, stderr, render or parallel: it ends cancelled")
	}
	if err != nil {
		e.add(fmt.Errorf("%s: call %q %q: %w", c.Range, c.Operation, c.Name, err))
	}
	return out
}

func refersToResults(x hcl.Expression) bool {
	if x == nil {
		return false
	}
	return slices.ContainsFunc(x.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "results" })
}

// late are arguments that refer to what earlier calls return.
type late struct {
	arguments hcl.Expression
	context   *hcl.EvalContext
}

// Late reports whether the arguments refer to what earlier calls return.
func (c Call) Late() bool { return c.late != nil }

// Resolve fills in arguments that refer to earlier calls, given the payloads of these by the names of the calls.
func (c Call) Resolve(results map[string]*structpb.Struct) (Call, error) {
	if c.late == nil {
		return c, nil
	}
	payloads := map[string]cty.Value{}
	for name, payload := range results {
		text, err := protojson.Marshal(payload)
		if err != nil {
			return c, err
		}
		kind, err := ctyjson.ImpliedType(text)
		if err != nil {
			return c, err
		}
		if payloads[name], err = ctyjson.Unmarshal(text, kind); err != nil {
			return c, err
		}
	}
	e := evaluation{context: c.late.context.NewChild()}
	e.context.Variables = map[string]cty.Value{"results": cty.ObjectVal(payloads)}
	if arguments := e.object("arguments", c.late.arguments); arguments != nil {
		c.Arguments = arguments
	}
	return c, errors.Join(e.problems...)
}

// problems are a parser's diagnostics as one error, a line each.
func problems(diags hcl.Diagnostics) error {
	var all []error
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		where := ""
		if d.Subject != nil {
			where = d.Subject.String() + ": "
		}
		all = append(all, fmt.Errorf("%s%s: %s", where, d.Summary, strings.TrimSpace(d.Detail)))
	}
	return errors.Join(all...)
}

var envFunction = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "name", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		value, ok := os.LookupEnv(args[0].AsString())
		if !ok {
			return cty.NilVal, fmt.Errorf("the environment variable %s is not set", args[0].AsString())
		}
		return cty.StringVal(value), nil
	},
})

var repeatFunction = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "times", Type: cty.Number}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		times, accuracy := args[1].AsBigFloat().Int64()
		text := args[0].AsString()
		if accuracy != 0 || times < 0 || (text != "" && times > int64(longest/len(text))) {
			return cty.NilVal, fmt.Errorf("times must be a whole number, and the text at most %d bytes long", longest)
		}
		return cty.StringVal(strings.Repeat(text, int(times))), nil
	},
})
