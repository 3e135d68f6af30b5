package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/lineedit"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/words"
	"github.com/agentco/agent/proto/lean"
)

func (a *app) shellCommand() *cobra.Command {
	var flags shellFlags
	cmd := &cobra.Command{
		Use:   "shell",
		Short: "Run tools and commands one after another",
		Long: `Run tools and commands one after another, in one session: what was approved for the session, the files that
were read and the processes in the background last until it ends, and end with it.

` + shellHelp(paint.Painter{Width: 100}) + `
When stdin is no terminal, its lines are run one by one: nobody is asked, so what a policy does not allow is
denied unless there is --yes. The first line that fails ends the shell with its exit code; with --keep-going
the others still run. At a terminal the exit code is 0, whatever the lines returned.`,
		Example: `  agent shell
  agent shell < release.txt
  printf '%s\n' '/changelog' 'bash.bash command="go test ./..."' | agent shell --yes --json`,
		Args:        noMoreThan(0),
		Annotations: map[string]string{callsAnnotation: ""},
		RunE:        func(*cobra.Command, []string) error { return a.shell(flags) },
	}
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "approve changes without asking; a policy's deny still stands")
	cmd.Flags().BoolVarP(&flags.keepGoing, "keep-going", "k", false, "run the lines behind one that fails, too")
	return cmd
}

type shellFlags struct {
	yes, keepGoing bool
}

// shell is one session after the other with whoever types.
type shell struct {
	*app
	options shellFlags
	// person is set when the lines come from one, who sees what fails and goes on.
	person  bool
	input   input
	script  *scriptInput // the input when it is no person
	turn    turn
	history *lineedit.History
	project *project
	session *engine.Session
	config  watchedFile
	// completer knows what there was to be called when the line was begun.
	completer completer
	// reloading is set when a session ends for another one to begin.
	reloading bool
	// reloaded is what the next session begins with; nil to read it.
	reloaded *project
	// failed is the first failure of a script that keeps going.
	failed error
}

// What ends a session of a shell without being an error.
var (
	errExit   = errors.New("exit")
	errReload = errors.New("reload")
)

// shell runs sessions until one ends otherwise than with reload.
func (a *app) shell(flags shellFlags) error {
	sh := &shell{app: a, options: flags}
	sh.person = term.IsTerminal(int(os.Stdin.Fd())) && a.display.err.terminal
	a.answersWithOutcome, a.prompt.more = true, true
	if sh.person {
		sh.openHistory()
	}
	sh.input = sh.newInput()
	defer sh.input.close()
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	lean.Bound(softMemory)
	go lean.Keep(ctx)
	for {
		sh.reloading, sh.silent = false, false
		if err := sh.converse(); err != nil || !sh.reloading {
			return err
		}
	}
}

// converse is one session.
func (sh *shell) converse() error {
	p := sh.reloaded
	if p == nil {
		var err error
		if p, err = sh.open(); err != nil {
			return err
		}
	}
	call := callFlags{yes: sh.options.yes, unattended: !sh.person}
	return sh.withSession(p, call, nil, func(s *engine.Session, failed error) error {
		for _, err := range flatten(failed) {
			sh.showError(err)
		}
		sh.project, sh.session, sh.config = p, s, watchFile(p.File)
		sh.kill.set(s.Engine().Halt)
		defer sh.kill.set(s.Engine().Kill)
		return sh.loop()
	})
}

// promptText is the project's folder and the end of the session's id.
func (sh *shell) promptText() string {
	id := strings.ToLower(sh.session.ID())
	return fmt.Sprintf("%s %s> ", paint.Line(filepath.Base(sh.project.Root)), id[max(0, len(id)-4):])
}

// take does what the lines of a text say, up to the first that fails. It returns what ends the session.
func (sh *shell) take(text string) error {
	lines, err := words.Split(text)
	var wrong *words.Error
	if errors.As(err, &wrong) {
		return sh.end(text, &placedError{usagef("%w", err), wrong.At, wrong.At + 1})
	}
	if len(lines) == 0 {
		return nil
	}
	sh.remember(text, lines)
	for i, line := range lines {
		err := context.Cause(sh.turn.ctx)
		if err == nil {
			err = sh.perform(line)
		}
		if err == nil {
			continue
		}
		if left := len(lines) - i - 1; left > 0 && sh.person && !isEnd(err) {
			defer sh.display.Note(sh.display.ErrPainter().Dim("not run: " + count(left, "line", "lines") + " behind it"))
		}
		return sh.end(text, err)
	}
	return nil
}

func isEnd(err error) bool { return errors.Is(err, errExit) || errors.Is(err, errReload) }

// end shows why a line failed, and returns what of it ends the session: for a person nothing does.
func (sh *shell) end(text string, err error) error {
	if isEnd(err) {
		return err
	}
	sh.silent = false
	sh.report(err)
	sh.showPlace(text, err)
	switch {
	case sh.ctx.Err() != nil:
		return context.Cause(sh.ctx)
	case sh.person:
		return nil
	case sh.options.keepGoing:
		if sh.failed == nil {
			sh.failed = err
		}
		return nil
	default:
		return err
	}
}

// showPlace shows what of a line an error is about: the word if it is one word of several, and in a script, where
// nobody has just typed it, the line.
func (sh *shell) showPlace(text string, err error) {
	var placed *placedError
	within := errors.As(err, &placed) && placed.from > 0
	p := sh.display.ErrPainter()
	switch {
	case sh.flags.json, errors.Is(sh.display.OutError(), errNobodyReads):
	case within:
		sh.display.Note(sh.lineNumber(text, placed.from) + point(text, placed.from, placed.to, p))
	case !sh.person:
		first, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
		sh.display.Note(p.Dim(sh.lineNumber(text, 0) + "  " + paint.Clip(paint.Line(first), max(p.Width, 80)-4)))
	}
}

// lineNumber says which line of a script a byte of a text from it is on.
func (sh *shell) lineNumber(text string, at int) string {
	if sh.script == nil {
		return ""
	}
	return fmt.Sprintf("  line %d\n", sh.script.rows-strings.Count(text[at:], "\n")+1)
}
