package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Scope is what expressions can see of the world.
type Scope struct {
	// Root is the project's folder, Cwd where agent was started, Home the user's folder.
	Root, Cwd, Home string
	// LookupEnv reads an environment variable.
	LookupEnv func(name string) (value string, set bool)
}

// functions are pure, and none of them can make something large out of something small.
var functions = map[string]function.Function{
	"coalesce":  stdlib.CoalesceFunc,
	"concat":    stdlib.ConcatFunc,
	"join":      stdlib.JoinFunc,
	"lower":     stdlib.LowerFunc,
	"replace":   stdlib.ReplaceFunc,
	"split":     stdlib.SplitFunc,
	"trimspace": stdlib.TrimSpaceFunc,
	"upper":     stdlib.UpperFunc,
}

// unsetError says that env() was asked for a variable that is not set.
type unsetError struct{ name string }

func (e *unsetError) Error() string { return fmt.Sprintf("environment variable %q is not set", e.name) }

// context is the evaluation context of a provider block.
func (s Scope) context() *hcl.EvalContext {
	all := map[string]function.Function{"env": s.env()}
	for name, fn := range functions {
		all[name] = fn
	}
	paths := map[string]cty.Value{}
	for name, dir := range map[string]string{"root": s.Root, "cwd": s.Cwd, "home": s.Home} {
		if dir != "" {
			paths[name] = cty.StringVal(dir)
		}
	}
	return &hcl.EvalContext{
		Functions: all,
		Variables: map[string]cty.Value{"path": cty.ObjectVal(paths)},
	}
}

func (s Scope) env() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if value, set := s.LookupEnv(name); set {
				return cty.StringVal(value), nil
			}
			return cty.NilVal, &unsetError{name}
		},
	})
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }
