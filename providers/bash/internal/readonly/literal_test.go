package readonly

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"
)

// requireLiteral reads what is to be run, and holds it to the promise of the package
// without any of its code: simple commands whose names are quoted texts, arguments that
// are quoted texts, patterns, ~ or plain variables, and nothing that writes to a file.
func requireLiteral(t require.TestingT, script string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "")
	require.NoError(t, err, script)
	var fault error
	syntax.Walk(file, func(n syntax.Node) bool {
		if fault == nil && n != nil {
			fault = faultOf(n)
		}
		return fault == nil
	})
	require.NoError(t, fault, script)
}

var (
	harmlessSetting = regexp.MustCompile(`^(?:IFS=|(?:LC_[A-Z]+|LANG)=[A-Za-z0-9_.-]*|TZ=[A-Za-z0-9_+/-]*|NO_COLOR=[0-9-]+)$`)
	livePattern     = regexp.MustCompile(`^(?:~/?)?(?:[*?]|\[[!^]?[A-Za-z0-9_.,-]+\])*$`)
	liveName        = regexp.MustCompile(`^(?:[a-z][a-z0-9_]*|HOME|PWD|PATH|SHELL|LANG|TERM|TMPDIR|GOPATH|GOROOT|VIRTUAL_ENV|OLDPWD|HOSTNAME|USER|\?)$`)
)

func faultOf(n syntax.Node) error {
	switch n := n.(type) {
	case *syntax.File, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.TimeClause,
		*syntax.SglQuoted, *syntax.Lit, *syntax.WordIter, *syntax.ForClause, *syntax.WhileClause, *syntax.Assign, *syntax.ParamExp, *syntax.DblQuoted:
		return nil
	case *syntax.Stmt:
		if n.Background || n.Coprocess || n.Cmd == nil {
			return fmt.Errorf("a statement that is not simple")
		}
		return nil
	case *syntax.Redirect:
		target := n.Word.Lit()
		input := n.Op == syntax.RdrIn && n.Hdoc == nil
		joins := n.Op == syntax.DplOut && (target == "1" || target == "2")
		if !input && !joins && target != "/dev/null" {
			return fmt.Errorf("a redirection to %q", target)
		}
		return nil
	case *syntax.CallExpr:
		return faultOfCall(n)
	case *syntax.Word:
		return faultOfWord(n)
	default:
		return fmt.Errorf("unexpected %T", n)
	}
}

func faultOfCall(c *syntax.CallExpr) error {
	for _, a := range c.Assigns {
		value, quoted := a.Value.Parts[0].(*syntax.SglQuoted)
		if !quoted || len(a.Value.Parts) > 1 || !harmlessSetting.MatchString(a.Name.Value+"="+value.Value) {
			return fmt.Errorf("an assignment of %s", a.Name.Value)
		}
	}
	if c.Args[0].Lit() == "time" { // a reserved word of bash
		c.Args = c.Args[1:]
	}
	for _, part := range c.Args[0].Parts {
		if _, quoted := part.(*syntax.SglQuoted); !quoted {
			return fmt.Errorf("the name of a command is %T", part)
		}
	}
	return nil
}

func faultOfWord(w *syntax.Word) error {
	bare := slices.Contains([]string{"/dev/null", "1", "2", "time", "/"}, w.Lit())
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !bare && !livePattern.MatchString(p.Value) && p.Value != `\'` {
				return fmt.Errorf("unquoted %q", p.Value)
			}
		case *syntax.DblQuoted:
			variable, ok := p.Parts[0].(*syntax.ParamExp)
			if !ok || len(p.Parts) != 1 || !liveName.MatchString(variable.Param.Value) ||
				variable.Exp != nil && (variable.Exp.Op != syntax.DefaultUnsetOrNull || variable.Exp.Word.Lit() != "/") {
				return fmt.Errorf("double quotes around more than a variable")
			}
		case *syntax.SglQuoted:
		default:
			return fmt.Errorf("a word has %T", p)
		}
	}
	return nil
}
