package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/text/unicode/norm"
)

func (l *calls) readHCL(src []byte, shown string) {
	l.file, l.syntax = parseUpTo(maxCallsBytes, shown, src)
	l.diags = l.syntax
	for _, a := range sortedAttributes(l.file.body) {
		l.fail(a.NameRange, "Unexpected argument", "%q stands outside of any block. Write call \"NAME\" { … }.", a.Name)
	}
	for _, b := range l.file.body.Blocks {
		switch {
		case l.broken(b):
		case b.Type == "command":
			l.fail(b.TypeRange, "Unknown block "+quoted(b.Type), "A slash command is a call as well: write call \"NAME\" { operation = \"/COMMAND\" }.")
		case b.Type != "call":
			l.fail(b.TypeRange, "Unknown block "+quoted(b.Type), "%sA list of calls holds call blocks.", didYouMean(b.Type, []string{"call"}))
		default:
			l.addBlock(b)
		}
	}
}

func (l *calls) addBlock(b *block) {
	for _, inner := range b.Body.Blocks {
		l.fail(inner.DefRange(), "Unexpected block "+quoted(inner.Type), "Write it as an argument: %s = { … }.", inner.Type)
	}
	e := entry{at: b.DefRange(), readArguments: l.hclArguments}
	if l.labelled(b, "name") {
		if e.name = b.Labels[0]; e.name == "" {
			l.fail(b.LabelRanges[0], "Empty name", "Write call \"NAME\" { … }.")
		}
	}
	for _, a := range sortedAttributes(b.Body) {
		e.fields = append(e.fields, field{a.Name, a.NameRange, a.Expr})
	}
	l.add(e, callAttributes)
}

// hclArguments evaluates the arguments. They see the paths and the pure functions of agent.hcl, and no variable of the
// environment: arguments are shown, logged, and saved with a plan.
func (l *calls) hclArguments(c *Call, expr hcl.Expression) {
	if native, ok := expr.(hclsyntax.Expression); ok {
		for _, call := range envCalls(native) {
			l.fail(call.Range(), "env() has no place in a call", "Arguments are shown, logged and saved with a plan, where no secret belongs. Let the command or the provider read the variable.")
		}
	}
	if native, ok := expr.(hclsyntax.Expression); ok {
		if diags := unbounded(native); len(diags) > 0 {
			l.diags = append(l.diags, diags...)
			return
		}
	}
	context := l.scope.pathContext()
	context.Functions = pureFunctions()
	v, diags := expr.Value(context)
	switch {
	case diags.HasErrors():
		l.diags = append(l.diags, withoutEnv(diags)...)
		return
	case !v.IsWhollyKnown() || v.IsNull() || !v.Type().IsObjectType():
		l.fail(expr.Range(), "Invalid arguments", "Write arguments = { NAME = VALUE }.")
		return
	case !norm.NFC.IsNormal(l.source(expr.Range())):
		l.fail(expr.Range(), "The arguments would be changed", "HCL writes text in Unicode's composed form (NFC), and this is not. Write the list as JSON, which keeps it.")
		return
	}
	c.values = hclValues(expr)
	text, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		l.fail(expr.Range(), "Invalid arguments", "%s.", sentence(err))
		return
	}
	l.decodeArguments(c, text)
}

// source is what stands in a range.
func (l *calls) source(r hcl.Range) []byte { return r.SliceBytes(l.file.src) }

// withoutEnv leaves out that there is no such function, which has been said better.
func withoutEnv(diags hcl.Diagnostics) hcl.Diagnostics {
	var kept hcl.Diagnostics
	for _, d := range diags {
		if unknown, ok := d.Extra.(hclsyntax.FunctionCallUnknownDiagExtra); !ok || unknown.CalledFunctionName() != "env" {
			kept = append(kept, d)
		}
	}
	return kept
}

// hclValues says where the value of each argument stands.
func hclValues(expr hcl.Expression) map[string]hcl.Range {
	at := map[string]hcl.Range{}
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		return at
	}
	for _, pair := range pairs {
		if key, diags := pair.Key.Value(nil); !diags.HasErrors() && key.Type() == cty.String && key.IsKnown() && !key.IsNull() {
			at[key.AsString()] = hcl.RangeBetween(pair.Key.Range(), pair.Value.Range())
		}
	}
	return at
}
