package readonly

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// judge walks through a script and writes it anew.
type judge struct {
	rules     *Rules
	source    string
	out       strings.Builder
	variables map[string]bool // of for loops: whether every value is tame
	loops     int             // how deep in loops
	calls     int             // how many commands there were

	where        []string // how to get to where a command may run: "" or "cd 'a' && "
	repositories []string // how Git is called there: "cd 'a' && git '-C' 'b'"
}

// text is a node as it was written.
func (j *judge) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(j.source) || from > to {
		return ""
	}
	return j.source[from:to]
}

func (j *judge) write(parts ...string) {
	for _, p := range parts {
		j.out.WriteString(p)
	}
}

func (j *judge) refuse(n syntax.Node, why string) error { return &Refused{j.text(n), why} }

// statements are one after the other.
func (j *judge) statements(all []*syntax.Stmt) error {
	for i, s := range all {
		if i > 0 {
			j.write("\n")
		}
		if err := j.statement(s); err != nil {
			return err
		}
	}
	return nil
}

func (j *judge) statement(s *syntax.Stmt) error {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return &Refused{"&", "nothing may run in the background; run it in the foreground, or use bash"}
	case s.Cmd == nil:
		return j.refuse(s, "there is no command in it")
	}
	if s.Negated {
		j.write("! ")
	}
	if err := j.command(s.Cmd); err != nil {
		return err
	}
	for _, r := range s.Redirs {
		if err := j.redirection(r); err != nil {
			return err
		}
	}
	return nil
}

func (j *judge) command(c syntax.Command) error {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return j.call(c)
	case *syntax.BinaryCmd:
		return j.binary(c)
	case *syntax.Subshell:
		return j.enclosed("(\n", c.Stmts, "\n)")
	case *syntax.Block:
		return j.enclosed("{\n", c.Stmts, "\n}")
	case *syntax.IfClause:
		return j.conditional(c, "if ")
	case *syntax.ForClause:
		return j.loop(c)
	case *syntax.WhileClause:
		return j.lines(c)
	case *syntax.TestClause:
		if j.calls++; j.calls > maxCalls {
			return j.refuse(c, "there are too many conditions before it; use several calls")
		}
		return j.condition(c.X)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return j.refuse(c, "there is nothing to measure")
		}
		j.write("time ")
		return j.statement(c.Stmt)
	default:
		return j.refuse(c, construct(c))
	}
}

// construct says why a part of the language is not for reading.
func construct(c syntax.Command) string {
	switch c.(type) {
	case *syntax.FuncDecl:
		return "functions are not read; write the commands out"
	case *syntax.DeclClause:
		return "variables cannot be set; write the text where it is used"
	case *syntax.ArithmCmd, *syntax.LetClause:
		return "arithmetic can run commands; use bash"
	case *syntax.CoprocClause:
		return "nothing may run in the background"
	default:
		return "this part of the shell's language is not read; use bash"
	}
}

func (j *judge) binary(c *syntax.BinaryCmd) error {
	op, ok := map[syntax.BinCmdOperator]string{
		syntax.AndStmt: " && ", syntax.OrStmt: " || ", syntax.Pipe: " | ", syntax.PipeAll: " 2>&1 | ",
	}[c.Op]
	if !ok {
		return j.refuse(c, "the operator is not known")
	}
	if err := j.statement(c.X); err != nil {
		return err
	}
	j.write(op)
	return j.statement(c.Y)
}

func (j *judge) enclosed(open string, all []*syntax.Stmt, end string) error {
	j.write(open)
	if err := j.statements(all); err != nil {
		return err
	}
	j.write(end)
	return nil
}

func (j *judge) conditional(c *syntax.IfClause, keyword string) error {
	if len(c.Cond) == 0 { // the else at the end
		return j.enclosed("else\n", c.Then, "\n")
	}
	if err := j.enclosed(keyword, c.Cond, "\n"); err != nil {
		return err
	}
	if err := j.enclosed("then\n", c.Then, "\n"); err != nil {
		return err
	}
	if c.Else != nil {
		if err := j.conditional(c.Else, "elif "); err != nil {
			return err
		}
	}
	if keyword == "if " {
		j.write("fi")
	}
	return nil
}

// loopVariable is a name that means nothing to a shell or a program.
var loopVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`) })

func (j *judge) loop(c *syntax.ForClause) error {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || c.Braces || !iter.InPos.IsValid() {
		return j.refuse(c, "only loops over words are read: for x in a b; do ...; done")
	}
	items, err := j.words(iter.Items)
	if err != nil {
		return err
	}
	j.write("for ", iter.Name.Value, " in", joined(items))
	return j.repeated(c.Do, []string{iter.Name.Value}, !slices.ContainsFunc(items, func(w word) bool { return !tame().MatchString(w.text) }))
}

// lines reads one form of while: over the lines that come in.
func (j *judge) lines(c *syntax.WhileClause) error {
	const form = "only this loop is read: while read -r line; do ...; done"
	if c.Until || len(c.Cond) != 1 {
		return j.refuse(c, form)
	}
	s := c.Cond[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return j.refuse(c, form)
	}
	j.write("while ")
	for _, a := range call.Assigns {
		if j.text(a) != "IFS=" {
			return j.refuse(a, "only IFS= can be written here")
		}
		j.write("IFS='' ")
	}
	words, err := j.words(call.Args)
	if err != nil {
		return err
	}
	j.write(strings.TrimPrefix(joined(words), " "))
	names := []string{}
	for _, w := range words[1:] {
		if len(names) > 0 || !w.is("-r") {
			names = append(names, w.text)
		}
		if w.open {
			return w.refuse("which variable it is cannot be known; write its name")
		}
	}
	if len(names) == 0 {
		return j.refuse(c, form)
	}
	return j.repeated(c.Do, names, false)
}

// repeated writes the body of a loop that sets variables. The values of tame ones begin as
// no option does. After the loop they may have no value, so that nobody can use them.
func (j *judge) repeated(body []*syntax.Stmt, names []string, tame bool) error {
	outer := maps.Clone(j.variables)
	for _, name := range names {
		if !loopVariable().MatchString(name) || strings.HasSuffix(name, "_proxy") {
			return &Refused{name, "it may mean something to the shell; take a name in lower case"}
		}
		// What was judged before, in a loop around both, would see the new value.
		if _, bound := outer[name]; bound {
			return &Refused{name, "it is the variable of a loop around this one; take another name"}
		}
		j.variables[name] = tame
	}
	j.loops++
	j.write("; do\n")
	if err := j.statements(body); err != nil {
		return err
	}
	j.write("\ndone")
	j.loops--
	j.variables = outer
	return nil
}

// joined writes words down, each after a blank.
func joined(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" " + w.quoted)
	}
	return b.String()
}

func (j *judge) redirection(r *syntax.Redirect) error {
	fd := ""
	if r.N != nil {
		fd = r.N.Value
	}
	if fd != "" && fd != "0" && fd != "1" && fd != "2" {
		return j.refuse(r, "only standard input, output and error can be redirected")
	}
	if r.Hdoc != nil || r.Op == syntax.WordHdoc || r.Word == nil {
		return j.refuse(r, "text is not fed to commands; let printf print it into a pipe")
	}
	words, err := j.words([]*syntax.Word{r.Word})
	if err != nil {
		return err
	}
	if len(words) != 1 || words[0].open {
		return j.refuse(r, "where it leads cannot be known; write a literal path")
	}
	target := words[0]
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		if target.text == "/dev/null" {
			j.write(" ", fd, ">/dev/null")
			return nil
		}
	case syntax.RdrAll, syntax.AppAll:
		if target.text == "/dev/null" {
			j.write(" >/dev/null 2>&1")
			return nil
		}
	case syntax.DplOut:
		if target.is("1", "2") {
			j.write(" ", fd, ">&", target.text)
			return nil
		}
	case syntax.RdrIn:
		if !strings.HasPrefix(target.text, "/dev/") || target.text == "/dev/null" {
			j.write(" ", fd, "<", target.quoted)
			return nil
		}
		return j.refuse(r, "devices are not read, and some open a connection")
	}
	return j.refuse(r, "it writes to a file; only /dev/null and 2>&1 are allowed: use bash or a tool that writes files")
}
