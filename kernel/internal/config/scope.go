package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Scope is what expressions can see of the world.
type Scope struct {
	// Root is the project's folder, Cwd where agent was started, Home the user's folder.
	Root, Cwd, Home string
	// LookupEnv reads an environment variable.
	LookupEnv func(name string) (value string, set bool)
}

// variableError is what is wrong with a variable that env() was asked for.
type variableError struct{ name, problem, cure string }

func (e *variableError) Error() string { return e.about(quoted(e.name)) }

// about says what is wrong without telling more than the source does: the name of a variable may itself come from
// another one, and be the secret in it.
func (e *variableError) about(source string) string {
	if !strings.Contains(source, quoted(e.name)) {
		return "An environment variable " + e.problem
	}
	return fmt.Sprintf("Environment variable %q %s", e.name, e.problem)
}

// context is the evaluation context of a provider block.
func (s Scope) context() *hcl.EvalContext {
	all := pureFunctions()
	all["env"] = s.env()
	return &hcl.EvalContext{Functions: all, Variables: s.pathContext().Variables}
}

// pathContext is an evaluation context that has the paths alone.
func (s Scope) pathContext() *hcl.EvalContext {
	return &hcl.EvalContext{Variables: s.paths(func(dir string) string { return dir })}
}

// globContext is the evaluation context of globs: the paths, whose characters stand for themselves.
func (s Scope) globContext() *hcl.EvalContext {
	return &hcl.EvalContext{Variables: s.paths(func(dir string) string {
		return globSpecial().ReplaceAllString(filepath.ToSlash(dir), `\$0`)
	})}
}

var globSpecial = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\\*?\[\]{}]`) })

func (s Scope) paths(write func(dir string) string) map[string]cty.Value {
	paths := map[string]cty.Value{}
	for name, dir := range map[string]string{"root": s.Root, "cwd": s.Cwd, "home": s.Home} {
		if dir != "" {
			paths[name] = cty.StringVal(write(dir))
		}
	}
	return map[string]cty.Value{"path": cty.ObjectVal(paths)}
}

func (s Scope) env() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			value, set := s.LookupEnv(name)
			switch text := cty.StringVal(value); {
			case !set:
				return cty.NilVal, &variableError{name, "is not set", "Set it, even to an empty string, and run again."}
			case !utf8.ValidString(value):
				return cty.NilVal, &variableError{name, "is not text in UTF-8", "Set it to text."}
			case text.AsString() != value: // cty composes characters
				return cty.NilVal, &variableError{name, "would be changed", "Set it to text in Unicode's composed form (NFC)."}
			default:
				return text, nil
			}
		},
	})
}
