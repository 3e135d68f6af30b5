package policy

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// script is the command of a call, read in the two ways that rules need.
type script struct {
	// commands are the simple commands, if the script is nothing but such; else problem says what else is there.
	commands [][]word
	problem  string
	// found is all that may run, as deep as it is written; opaque says why there may be more, and is empty when not.
	found  [][]word
	opaque string
}

const (
	// maxScript is the length of the longest script that is looked at.
	maxScript = 64 << 10
	// maxFound is how many commands are looked for in one script.
	maxFound = 4096
	// maxDepth is how deep scripts within the words of scripts are read.
	maxDepth = 5
)

// readScript reads a script. One that cannot be read has a problem and is opaque.
func readScript(text string) *script {
	s := &script{}
	file, err := parseScript(text)
	if err != nil {
		s.problem, s.opaque = err.Error(), err.Error()
		return s
	}
	for _, stmt := range file.Stmts {
		s.plain(stmt)
	}
	if s.problem == "" && len(s.commands) == 0 {
		s.problem = "there is no command in it"
	}
	s.search(file, 0)
	return s
}

// continuedComment is a comment whose line seems to go on: to a shell it does not, and the next line is a command.
var continuedComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?m)(?:^|[\\s;&|()<>`])#.*\\\\\n") })

// parseScript parses what every reader, man or shell, reads alike.
func parseScript(text string, options ...syntax.ParserOption) (*syntax.File, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("it is %d bytes long, and what is longer than %d is not read", len(text), maxScript)
	}
	if err := seen(text); err != nil {
		return nil, err
	}
	if strings.Contains(text, "$\\\n") {
		return nil, errors.New("a line is continued right after a $, where readers differ on what begins")
	}
	if continuedComment().MatchString(text) {
		return nil, errors.New("a comment ends in a backslash, where readers differ on what the next line is")
	}
	if strings.Count(text, "(")+strings.Count(text, "{") > 1000 {
		return nil, errors.New("it is nested too deeply")
	}
	file, err := syntax.NewParser(append(options, syntax.Variant(syntax.LangBash))...).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("it cannot be read as a shell script: %w", err)
	}
	return file, nil
}

// seen refuses text of which not everybody sees all, saying where.
func seen(text string) error {
	position := 0
	for i, c := range text {
		position++
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return fmt.Errorf("it is not UTF-8: character %d is the byte 0x%02X", position, text[i])
		case c == ' ' || c == '\n' || c == '\t':
		case unicode.IsControl(c):
			return fmt.Errorf("character %d of it is %U, a control character, which not everybody sees", position, c)
		case unicode.Is(unicode.Bidi_Control, c):
			return fmt.Errorf("character %d of it is %U, which turns text round for those who see it", position, c)
		case unicode.IsSpace(c) || unicode.Is(unicode.Cf, c):
			return fmt.Errorf("character %d of it is %U, which not everybody sees", position, c)
		}
	}
	return nil
}

// plain collects the simple commands of a statement, or notes the first thing that is none.
func (s *script) plain(stmt *syntax.Stmt) {
	if s.problem == "" {
		s.problem = s.unplain(stmt)
	}
}

func (s *script) unplain(stmt *syntax.Stmt) string {
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		return "it leaves a command in the background"
	}
	for _, r := range stmt.Redirs {
		if !harmless(r) {
			return "it redirects from or to a file or text"
		}
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		s.plain(cmd.X)
		s.plain(cmd.Y)
		return s.problem
	case *syntax.CallExpr:
		return s.simple(cmd)
	default:
		return "it holds more than simple commands, pipes, &&, || and ;"
	}
}

// harmless redirections join streams or throw them away.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" || r.Word == nil {
		return false
	}
	to := readWord(r.Word)
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		return to.fixed && (to.text == "-" || to.text != "" && strings.Trim(to.text, "0123456789") == "")
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn: // &> is a background job to some shells
		return to.fixed && to.text == "/dev/null"
	default:
		return false
	}
}

func (s *script) simple(c *syntax.CallExpr) string {
	if len(c.Assigns) > 0 {
		return "it sets a variable"
	}
	if len(c.Args) == 0 {
		return "it holds a redirection without a command"
	}
	words := readWords(c.Args)
	for i, w := range words {
		if w.hidden {
			return fmt.Sprintf("what %q becomes is only known to the shell", source(c.Args[i]))
		}
	}
	if why := evaluates(words); why != "" {
		return why
	}
	s.commands = append(s.commands, words)
	return ""
}

func readWords(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, w := range args {
		words[i] = readWord(w)
	}
	return words
}

// source is a word as it was written.
func source(w *syntax.Word) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return "…"
	}
	return clip(b.String())
}

// clip shortens what is too long for a message.
func clip(text string) string {
	const most = 80
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// evaluators run text as commands, or change what later words and names mean.
var evaluators = []string{
	".", "alias", "bind", "builtin", "command", "compgen", "complete", "compopt", "coproc", "declare", "enable", "env", "eval",
	"exec", "export", "fc", "getopts", "hash", "history", "jobs", "let", "local", "mapfile", "readarray", "read", "readonly",
	"set", "shift", "shopt", "source", "trap", "typeset", "unalias", "unset", "wait",
}

// shells read commands from an option or from their input, unless they are given a file.
var shells = []string{"ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "pwsh", "rbash", "sh", "tcsh", "zsh"}

// evaluates says why the words run more than what they name, or nothing.
func evaluates(words []word) string {
	name := path.Base(words[0].text)
	switch {
	case !words[0].fixed:
		return "which command it runs is only known to the shell"
	case slices.Contains(evaluators, name):
		return fmt.Sprintf("%s may run anything, or change what later commands mean", name)
	case slices.Contains(shells, name) && (len(words) == 1 || !words[1].fixed || words[1].text == "" || strings.ContainsAny(words[1].text[:1], "-+")):
		return fmt.Sprintf("%s reads commands from its arguments or its input", name)
	case slices.Contains([]string{"printf", "test", "["}, name) && slices.ContainsFunc(words[1:], setsOrReadsVariable):
		return fmt.Sprintf("%s evaluates the name of a variable", name)
	}
	return ""
}

// setsOrReadsVariable finds the option -v, or -R, whose value is evaluated as a subscript.
func setsOrReadsVariable(w word) bool {
	return !w.fixed || strings.HasPrefix(w.text, "-v") || w.text == "-R"
}

// wrappers run what their arguments name.
var wrappers = append([]string{
	".", "alias", "builtin", "chroot", "chrt", "command", "coproc", "doas", "entr", "env", "eval", "exec", "fd", "find", "flock",
	"ionice", "ltrace", "nice", "nohup", "nsenter", "parallel", "runuser", "setsid", "source", "ssh", "stdbuf", "strace", "su",
	"sudo", "taskset", "time", "timeout", "trap", "unshare", "watch", "xargs",
}, shells...)

// search collects all that may run: within substitutions, functions and loops, behind wrappers, and in the texts that
// wrappers and shells are given.
func (s *script) search(file *syntax.File, depth int) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Stmt:
			s.typed(n, depth)
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				s.add(readWords(n.Args), depth)
			}
		}
		return s.opaque == ""
	})
}

// typed reads what a shell is given as its input within the script.
func (s *script) typed(stmt *syntax.Stmt, depth int) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !isWrapper(readWord(call.Args[0])) {
		return
	}
	for _, r := range stmt.Redirs {
		switch {
		case r.Hdoc != nil:
			s.within(readWord(r.Hdoc).text, depth)
		case r.Op == syntax.WordHdoc:
			s.within(readWord(r.Word).text, depth)
		}
	}
}

func isWrapper(w word) bool { return slices.Contains(wrappers, strings.ToLower(path.Base(w.text))) }

func (s *script) add(words []word, depth int) {
	if len(s.found) > maxFound {
		s.opaque = fmt.Sprintf("it runs more than %d commands", maxFound)
		return
	}
	s.found = append(s.found, words)
	if !isWrapper(words[0]) {
		return
	}
	var texts []string
	for i, w := range words[1:] {
		if len(s.found) <= maxFound {
			s.found = append(s.found, words[i+1:])
		}
		texts = append(texts, w.text)
		if w.fixed && strings.ContainsAny(w.text, " \t\n;&|(`$<>'\"\\") {
			s.within(w.text, depth)
		}
	}
	s.within(strings.Join(texts, " "), depth) // as eval reads them
}

func (s *script) within(text string, depth int) {
	if depth == maxDepth {
		s.opaque = fmt.Sprintf("it holds scripts within scripts, more than %d deep", maxDepth)
		return
	}
	// What is no script is an argument of another kind.
	if file, err := parseScript(text); err == nil {
		s.search(file, depth+1)
	}
}
