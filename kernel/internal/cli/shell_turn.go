package cli

import (
	"context"
	"errors"
	"io"

	"github.com/agentco/agent/kernel/internal/config"
)

// turn is one text of a person's, from its prompt until what it asked for has been done. A Ctrl-C gives up the turn that it
// was pressed in, wherever that is by then, as it does nothing but to end its ctx:
//
//	while the text is typed              the line is given up
//	behind Enter, before a call begins   nothing is called: whoever presses that means what was just sent
//	while a provider starts, or previews the call is cancelled, and nobody is asked about it
//	at the question                      the call is cancelled
//	while the call runs                  it is cancelled, which is said; a second one soon after kills the providers
//	while its result is shown            that is shown to its end; lines behind it are not run, and nothing is killed
//	between two turns                    nothing: what was asked for is done
//	in an editor that was lent to        the key is the editor's
//
// Of the text itself it is a key, which the editor reads in the order of what was typed; from Enter on a signal. That one is
// heard when it is heard, so what it gives up changes at no other moments than the turn's prompt and its end. Signals that
// follow each other within onePress are one Ctrl-C, in one turn: whoever has had a prompt since means what is behind that.
type turn struct {
	ctx    context.Context
	giveUp context.CancelCauseFunc
}

// loop takes turns until there are no more, or one says so. What it returns has been shown.
func (sh *shell) loop() error {
	defer func() { sh.silent = true }()
	if sh.person { // whom a Ctrl-C between two turns must not cost the shell
		defer sh.kill.bring(unheard())()
	}
	defer sh.input.hide()()
	for {
		if over, err := sh.takeTurn(); over {
			return err
		}
	}
}

// takeTurn is one turn. It reports whether it was the last, and how the session ends then.
func (sh *shell) takeTurn() (over bool, err error) {
	defer sh.beginTurn()()
	text, err := sh.read()
	switch {
	case sh.ctx.Err() != nil:
		return true, context.Cause(sh.ctx)
	case errors.Is(err, errInterrupted):
		return false, nil
	case errors.Is(err, io.EOF):
		return true, sh.failed
	case err != nil:
		sh.report(err)
		return true, err
	}
	switch err := sh.take(text); {
	case errors.Is(err, errExit):
		return true, sh.failed
	case errors.Is(err, errReload):
		sh.reloading = true
		return true, nil
	default:
		return err != nil, err
	}
}

// beginTurn has Ctrl-C give up the turn that begins. In a script it ends everything.
func (sh *shell) beginTurn() (end func()) {
	ctx, cancel := context.WithCancelCause(sh.ctx)
	sh.turn = turn{ctx, cancel}
	if !sh.person {
		return func() { cancel(nil) }
	}
	sh.kill.anew()
	back := sh.kill.bring(&foreground{cancel: cancel, quiet: true})
	return func() {
		back()
		cancel(nil)
	}
}

// read waits for a text. One that was given up behind its Enter is a text all the same, of a turn that is given up.
func (sh *shell) read() (string, error) {
	if !sh.person {
		return sh.input.next(sh.turn.ctx, "")
	}
	if sh.config.changed() {
		sh.display.Note(sh.display.ErrPainter().Dim(config.FileName + " has changed: 'reload' begins a new session with it"))
	}
	sh.completer = completer{sh.session.Operations(), sh.project.cwd}
	text, err := sh.input.next(sh.turn.ctx, sh.promptText())
	if text != "" && errors.Is(err, errInterrupted) {
		sh.turn.giveUp(errInterrupted)
		return text, nil
	}
	return text, err
}

// inForeground runs a call of the turn, which a second Ctrl-C kills.
func (sh *shell) inForeground(call func() error) error {
	program, level := sh.ctx, sh.logLevel.Level()
	if sh.person {
		defer sh.kill.bring(&foreground{cancel: sh.turn.giveUp})()
	}
	sh.ctx, sh.prompt.asked = sh.turn.ctx, false
	defer func() { sh.ctx = program }()
	defer sh.logLevel.Set(level) // which a kill silences
	return call()
}
