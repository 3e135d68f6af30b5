package cli

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/agentco/agent/kernel/internal/words"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// placedError is an error about one word of a line.
type placedError struct {
	error
	from, to int
}

func (e *placedError) Unwrap() error { return e.error }

func at(w words.Word, err error) error { return &placedError{err, w.From, w.To} }

// ownWord is a word that the shell itself understands. None of them can be a tool or a command: those have a dot in
// them, or a slash before them.
type ownWord struct {
	name string
	// argument is set for a word that may be followed by another.
	argument bool
	run      func(sh *shell, argument string) error
	summary  string
}

func ownWords() []ownWord {
	return []ownWord{
		{"help", true, (*shell).help, "show what can be typed, or a tool or command with its arguments"},
		{"tools", true, (*shell).tools, "list the tools and commands, or show one with its arguments"},
		{"history", false, (*shell).showHistory, "list the lines that were typed"},
		{"reload", false, (*shell).reload, "read agent.hcl again and begin a new session"},
		{"exit", false, func(*shell, string) error { return errExit }, "leave, as does Ctrl-D"},
		{"quit", false, func(*shell, string) error { return errExit }, "leave"},
	}
}

// perform does what one line says.
func (sh *shell) perform(line words.Line) error {
	first, rest := line[0], line[1:]
	for _, own := range ownWords() {
		if own.name != first.Text {
			continue
		}
		most := 0
		if own.argument {
			most = 1
		}
		if len(rest) > most {
			return at(rest[most], usagef("%s takes no argument %q", own.name, rest[most].Text))
		}
		argument := ""
		if len(rest) == 1 {
			argument = rest[0].Text
		}
		return own.run(sh, argument)
	}
	op, err := sh.lookup(first.Text)
	if err != nil {
		return at(first, asCommand(sh.session.Operations(), line, err))
	}
	return sh.run(op, rest)
}

// longestName is how many bytes can be meant for a name, and are compared with all there are.
const longestName = 200

// lookup finds what the first word of a line stands for, or says what was probably meant.
func (sh *shell) lookup(word string) (engine.Operation, error) {
	ops := sh.session.Operations()
	if len(word) > longestName {
		return engine.Operation{}, &engine.LookupError{Text: fmt.Sprintf("%q is no name: 'tools' lists what there is", paint.Clip(paint.Line(word[:longestName]), 40))}
	}
	if !strings.ContainsAny(word, "./") {
		text := fmt.Sprintf("%q is neither PROVIDER.TOOL nor /COMMAND: 'tools' lists what there is", word)
		if near := nearestOwn(ops, word); near != "" {
			return engine.Operation{}, &engine.LookupError{Text: text, Suggestion: near}
		}
		return engine.Operation{}, mistaken(text, ops, word, engine.Operation.String)
	}
	op, err := find(sh.session, word)
	var lookup *engine.LookupError
	if errors.As(err, &lookup) && lookup.Suggestion == "" {
		return op, mistaken(lookup.Text, ops, word, engine.Operation.String)
	}
	return op, err
}

// asCommand suggests how to run a line that is a command of the system, and is like nothing that there is here.
func asCommand(ops []engine.Operation, line words.Line, err error) error {
	var lookup *engine.LookupError
	if !errors.As(err, &lookup) || lookup.Suggestion != "" || strings.ContainsAny(line[0].Text, "./") || len(meant(ops, line[0].Text)) > 0 {
		return err
	}
	if _, none := exec.LookPath(line[0].Text); none != nil {
		return err
	}
	at := slices.IndexFunc(ops, func(op engine.Operation) bool {
		return !op.IsCommand() && op.Kind == toolv1.ToolKind_TOOL_KIND_RESOURCE && slices.Equal(op.Input.GetRequired(), []string{"command"})
	})
	if at < 0 {
		return err
	}
	var typed []string
	for _, w := range line {
		text := w.Text
		if w.Quoted {
			text = words.Quote(text)
		}
		typed = append(typed, text)
	}
	return &engine.LookupError{Text: fmt.Sprintf("%s; a command of the system is run as in %s command=%s", lookup.Text, ops[at], words.Quote(strings.Join(typed, " ")))}
}

// nearestOwn is the word of the shell's own that was probably meant; empty when it was rather an operation.
func nearestOwn(ops []engine.Operation, word string) string {
	var own, all []string
	for _, o := range ownWords() {
		own = append(own, o.name)
	}
	for _, op := range ops {
		if called(op, word) || op.Provider == word {
			return ""
		}
		all = append(all, op.Name, op.String())
	}
	if near := schema.Nearest(word, append(all, own...)); slices.Contains(own, near) {
		return near
	}
	return ""
}

// run runs a call.
func (sh *shell) run(op engine.Operation, rest words.Line) error {
	flags := callFlags{yes: sh.options.yes}
	set := pflag.NewFlagSet(op.String(), pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&flags.args, "args", "", "")
	set.DurationVar(&flags.timeout, "timeout", 0, "")
	set.BoolVar(&flags.markdown, "markdown", false, "")
	if err := set.Parse(textsOf(rest)); err != nil {
		return usagef("%w: --args JSON, --timeout DURATION and --markdown are what there is here", err)
	}
	if err := flags.check(); err != nil {
		return err
	}
	if flags.args == "@-" {
		return usagef("--args @- cannot be: what comes from stdin are the lines of the shell")
	}
	object, err := readArgs(sh.turn.ctx, flags.args)
	if err != nil {
		return err
	}
	given := set.Args()
	args, err := object.with(op.Input, given, op.IsCommand())
	if err != nil {
		return sh.blame(op, object, rest, given, err)
	}
	return sh.inForeground(func() error {
		if err := sh.readyFor(sh.project, sh.session, op, args); err != nil {
			return err
		}
		return sh.call(sh.session, flags, op, args)
	})
}

func textsOf(line words.Line) []string {
	texts := make([]string, len(line))
	for i, w := range line {
		texts[i] = w.Text
	}
	return texts
}

// blame finds the word that an error about the arguments is about: the first one that cannot be added.
func (sh *shell) blame(op engine.Operation, object argsObject, rest words.Line, given []string, err error) error {
	if _, e := object.with(op.Input, nil, false); e != nil {
		return err // no word's fault
	}
	for n := range given {
		if _, e := object.with(op.Input, given[:n+1], op.IsCommand()); e == nil {
			continue
		}
		i := slices.IndexFunc(rest, func(w words.Word) bool { return w.Text == given[n] })
		if i < 0 {
			return err
		}
		if !rest[i].Quoted && slices.Contains([]string{"|", "||", "&&", "&", ";", ">", ">>", "<", "<<"}, given[n]) {
			err = usagef("%s means nothing here: quote a whole command for another shell, as in bash.bash command='a %s b'", given[n], given[n])
		}
		return at(rest[i], err)
	}
	return err
}

// point shows the row of a line that an error is about, with the place marked.
func point(text string, from, to int, p paint.Painter) string {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	stop := len(text)
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		stop = from + n
	}
	before, marked, behind := paint.Line(text[start:from]), paint.Line(text[from:min(to, stop)]), paint.Line(text[min(to, stop):stop])
	columns := p.Width
	if columns == 0 {
		columns = 80
	}
	room := columns - 4
	if paint.Width(before)+paint.Width(marked) > room {
		before = "…"
	}
	marks := min(max(1, paint.Width(marked)), room-paint.Width(before))
	return "  " + paint.Clip(before+marked+behind, room) + "\n  " +
		strings.Repeat(" ", paint.Width(before)) + p.Error(strings.Repeat("^", max(1, marks)))
}
