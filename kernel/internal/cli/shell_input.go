package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/agentco/agent/kernel/internal/lineedit"
	"github.com/agentco/agent/kernel/internal/words"
)

// input is where the lines of a shell come from.
type input interface {
	// next shows a prompt, where somebody sees it, and waits for a line, which has several rows when what it quotes has.
	// io.EOF is the end, errInterrupted a line that was given up: with its text when that was sent first.
	next(ctx context.Context, prompt string) (string, error)
	// hide keeps what is typed from being shown while no line is waited for, until back is called.
	hide() (back func())
	close()
}

// newInput is a person at a terminal, who can edit where the terminal can, or a script.
func (sh *shell) newInput() input {
	if !sh.person {
		sh.script = &scriptInput{reader: bufio.NewReader(os.Stdin)}
		return sh.script
	}
	t := openTerminal()
	if !sh.display.err.live {
		return &plainInput{terminal: t, display: sh.display}
	}
	editor := lineedit.New(t.in, os.Stderr)
	editor.History = sh.history
	editor.Color = sh.display.err.colour
	editor.Unfinished = unfinished
	editor.Complete = func(text string, at int) lineedit.Completions { return sh.completer.complete(text, at) }
	return &editedInput{editor: editor, terminal: t, display: sh.display}
}

// unfinished reports whether a line has to go on, for its quotes to be closed.
func unfinished(text string) bool { return !words.Complete(text) }

// editedInput is a person at a terminal with a cursor.
type editedInput struct {
	editor   *lineedit.Editor
	terminal *terminal
	display  *display
}

func (in *editedInput) next(ctx context.Context, prompt string) (string, error) {
	in.display.WriteAbove(in.editor.Interject)
	defer in.display.WriteAbove(nil)
	text, err := in.editor.Read(ctx, prompt)
	if errors.Is(err, lineedit.ErrInterrupted) {
		return text, errInterrupted
	}
	return text, err
}

// hide leaves it to the editor to show what was typed meanwhile.
func (in *editedInput) hide() (back func()) { return in.terminal.hide() }

func (in *editedInput) close() { in.terminal.close() }

// plainInput is a person at a terminal that can do nothing.
type plainInput struct {
	terminal *terminal
	display  *display
}

func (in *plainInput) next(ctx context.Context, prompt string) (string, error) {
	return gather(func(more bool) (string, error) {
		if more {
			prompt = "> "
		}
		in.display.Prompt(prompt)
		text, err := in.terminal.line(ctx)
		in.display.Answered(err == nil)
		return text, err
	})
}

// hide does nothing: it would never be shown.
func (in *plainInput) hide() (back func()) { return func() {} }

func (in *plainInput) close() { in.terminal.close() }

// scriptInput is stdin when it is no person.
type scriptInput struct {
	reader  *bufio.Reader
	rows    int           // read so far
	replies chan rowReply // of a read that goes on; nil for none
}

type rowReply struct {
	text string
	err  error
}

func (in *scriptInput) next(ctx context.Context, _ string) (string, error) {
	return gather(func(bool) (string, error) {
		if in.replies == nil {
			replies := make(chan rowReply, 1)
			in.replies = replies
			go func() {
				text, err := readRow(in.reader)
				replies <- rowReply{text, err}
			}()
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case r := <-in.replies:
			in.replies = nil
			in.rows += strings.Count(r.text, "\n")
			return r.text, r.err
		}
	})
}

func (in *scriptInput) hide() (back func()) { return func() {} }

func (in *scriptInput) close() {}

// gather reads rows until they are a whole line, or there are no more.
func gather(row func(more bool) (string, error)) (string, error) {
	var text strings.Builder
	var rows words.Rows
	for {
		next, err := row(text.Len() > 0)
		text.WriteString(next)
		whole := rows.Add(next)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		case text.Len() > scriptLimit:
			return "", usagef("a line is longer than %d MiB: give what is in it from a file, with --args @FILE", scriptLimit>>20)
		case err != nil && text.Len() == 0:
			return "", io.EOF
		case err != nil || whole:
			return text.String(), nil
		}
	}
}

// scriptLimit is how long a line of a script can be, in bytes.
const scriptLimit = 16 << 20

// readRow reads up to a line feed, or somewhat more than a line can be long.
func readRow(r *bufio.Reader) (string, error) {
	var row strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		row.Write(part)
		switch {
		case !errors.Is(err, bufio.ErrBufferFull):
			return row.String(), err
		case row.Len() > scriptLimit:
			return row.String(), nil
		}
	}
}
