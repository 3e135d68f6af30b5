package config

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxMade is how many bytes the functions of one evaluation may make: replace and join turn small things into large ones.
const maxMade = 32 << 20

// elementSize is about what an element of a list takes beside its text.
const elementSize = 64

// bounded is a pure function, and at most how many bytes it makes of its arguments.
type bounded struct {
	function.Function
	makes func(args []cty.Value) int
}

var functions = map[string]bounded{
	"coalesce":  {stdlib.CoalesceFunc, sizes},
	"concat":    {stdlib.ConcatFunc, sizes},
	"join":      {stdlib.JoinFunc, joined},
	"lower":     {stdlib.LowerFunc, sizes},
	"replace":   {stdlib.ReplaceFunc, replaced},
	"split":     {stdlib.SplitFunc, splits},
	"trimspace": {stdlib.TrimSpaceFunc, sizes},
	"upper":     {stdlib.UpperFunc, sizes},
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

// pureFunctions are the functions for one evaluation, which together make no more than they may.
func pureFunctions() map[string]function.Function {
	left := maxMade
	all := map[string]function.Function{}
	for name, f := range functions {
		all[name] = function.New(&function.Spec{
			Params: f.Params(), VarParam: f.VarParam(), Type: f.ReturnTypeForValues,
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				if left -= f.makes(args); left < 0 {
					left = 0
					return cty.NilVal, errors.New("the result is too large for a configuration")
				}
				return f.Call(args)
			},
		})
	}
	return all
}

// sizes is the size of all of the values.
func sizes(values []cty.Value) (n int) {
	for _, v := range values {
		n += size(v)
	}
	return n
}

func size(v cty.Value) int {
	switch {
	case v.IsNull() || !v.IsKnown():
		return elementSize
	case v.Type() == cty.String:
		return elementSize + len(v.AsString())
	case !v.CanIterateElements():
		return elementSize
	}
	n := elementSize
	for _, e := range v.Elements() {
		n += size(e)
	}
	return n
}

func joined(args []cty.Value) int {
	n, separator := 0, size(args[0])
	for _, list := range args[1:] {
		n += size(list) + list.LengthInt()*separator
	}
	return n
}

func replaced(args []cty.Value) int {
	text, old, written := args[0].AsString(), args[1].AsString(), args[2].AsString()
	return len(text) + strings.Count(text, old)*len(written)
}

func splits(args []cty.Value) int {
	separator, text := args[0].AsString(), args[1].AsString()
	return len(text) + elementSize*(strings.Count(text, separator)+1)
}

// unbounded finds what no bound is kept in: a for within a for runs as often as anybody likes.
func unbounded(expr hclsyntax.Expression) (diags hcl.Diagnostics) {
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		if loop, ok := n.(*hclsyntax.ForExpr); ok && len(diags) == 0 {
			diags = append(diags, errorAt(loop.Range(), "No place for a for expression", "Values are written out, or computed by functions and templates without for."))
		}
		return nil
	})
	return diags
}
