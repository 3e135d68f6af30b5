package config

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// text reads a constant string.
func (l *loader) text(expr hclsyntax.Expression) (string, bool) {
	if word := hcl.ExprAsKeyword(expr); word != "" && !slices.Contains([]string{"true", "false", "null"}, word) {
		l.fail(expr.Range(), "Expected a string", "Write it in double quotes: %q.", word)
		return "", false
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() {
		l.diags = append(l.diags, diags...)
		return "", false
	}
	s, ok := asString(v)
	if !ok {
		l.fail(expr.Range(), "Expected a string", "Write it in double quotes.")
	}
	return s, ok
}

func asString(v cty.Value) (string, bool) {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }

// sentence is an error's text with a capital letter and no full stop.
func sentence(err error) string { return capital(err.Error()) }

func capital(s string) string {
	s = strings.TrimSuffix(s, ".")
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// envCalls lists the env() calls in an expression.
func envCalls(expr hclsyntax.Expression) []*hclsyntax.FunctionCallExpr {
	var calls []*hclsyntax.FunctionCallExpr
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && call.Name == "env" {
			calls = append(calls, call)
		}
		return nil
	})
	return calls
}
