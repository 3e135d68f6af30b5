package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/secret"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// display is stdout and stderr of the process, and the status line that lives on the terminal. All writing
// goes through it, so that the status line is never in the middle of anything. Its methods may be called
// from many goroutines.
type display struct {
	mu       sync.Mutex
	out, err screen
	status   status
	// output paints what calls print: one for a terminal that shows both streams, else one each.
	output [2]*paint.Output
	// question is the last row of what a person is being asked; empty when nobody is.
	question string
	// asking is set while the cursor stands behind a question.
	asking bool
	// held keeps what is written while the terminal is lent to another program; nil when it is not.
	held *backlog
	// above writes above the line that a person is typing; nil when nobody is.
	above func(write func())
	// secrets are in nothing that is written; it may be nil.
	secrets *secret.Set
	// broken is called with what made stdout unwritable.
	broken   context.CancelCauseFunc
	outError error
	// writes counts how often a write to a stream began or ended: it is odd while one lasts.
	writes atomic.Uint64
}

// screen is one of the two streams.
type screen struct {
	file     *os.File
	terminal bool
	// live is a terminal with a cursor that can be moved.
	live   bool
	colour bool
}

func newScreen(f *os.File) screen {
	s := screen{file: f, terminal: term.IsTerminal(int(f.Fd()))}
	s.live = s.terminal && os.Getenv("TERM") != "dumb"
	force := os.Getenv("CLICOLOR_FORCE")
	switch {
	case os.Getenv("NO_COLOR") != "":
	case force != "" && force != "0":
		s.colour = true
	default:
		s.colour = s.live
	}
	return s
}

func (s screen) painter() paint.Painter {
	p := paint.Painter{}
	if s.colour {
		p.Format = paint.Terminal
	}
	if s.terminal {
		p.Width = s.width()
	}
	return p
}

func (s screen) width() int {
	if w, _, err := term.GetSize(int(s.file.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

func newDisplay(out, err *os.File, broken context.CancelCauseFunc) *display {
	d := &display{out: newScreen(out), err: newScreen(err), broken: broken}
	for i, s := range []screen{d.out, d.err} {
		d.output[i] = &paint.Output{Live: s.live, Color: s.colour}
	}
	if d.out.terminal && d.err.terminal {
		d.output[1] = d.output[0]
	}
	return d
}

// OutPainter paints for stdout, ErrPainter for stderr.
func (d *display) OutPainter() paint.Painter { return d.out.painter() }

// ErrPainter paints for stderr.
func (d *display) ErrPainter() paint.Painter { return d.err.painter() }

// Out is stdout, for whole lines.
func (d *display) Out() io.Writer { return writer{d, (*display).lineOut} }

// Err is stderr, for whole lines.
func (d *display) Err() io.Writer { return writer{d, (*display).lineErr} }

type writer struct {
	d     *display
	write func(*display, string)
}

// Write never fails: a call must not fail because nobody looks. What went wrong is kept for the end.
func (w writer) Write(p []byte) (int, error) {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.put(string(p))
	return len(p), nil
}

func (w writer) put(s string) {
	if w.d.above != nil {
		w.d.above(func() { w.write(w.d, s) })
		return
	}
	w.write(w.d, s)
	w.d.askAgain()
	w.d.status.draw(w.d)
}

// WriteAbove has what is written from now on stand above a line that is being typed; nil ends that.
func (d *display) WriteAbove(above func(write func())) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.above = above
}

// Note writes a line to stderr.
func (d *display) Note(line string) {
	_, _ = io.WriteString(d.Err(), strings.TrimSuffix(line, "\n")+"\n")
}

// NoteAround is Note, if there still is reason for it, and then something to be done, so that what comes of that is told
// later. While the terminal is busy that does not wait for it.
func (d *display) NoteAround(do func(), still func() bool, line string) {
	say := func() {
		if still() {
			writer{d, (*display).lineErr}.put(line + "\n")
		}
		d.mu.Unlock()
	}
	if d.mu.TryLock() {
		say()
		do()
		return
	}
	do()
	d.mu.Lock()
	say()
}

// Chunk paints output of a call as it comes.
func (d *display) Chunk(c *toolv1.ToolEvent_OutputChunk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status.erase(d)
	if c.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDERR && d.output[1] != d.output[0] {
		d.writeErr(d.output[1].Chunk(c.GetStream(), c.GetData()))
	} else {
		d.writeOut(d.output[0].Chunk(c.GetStream(), c.GetData()))
	}
	d.status.draw(d)
}

// isTerminal reports whether a person sees all that is written: nothing of it goes anywhere else.
func (d *display) isTerminal() bool { return d.output[0] == d.output[1] }

// EndOutput closes what a call left unfinished.
func (d *display) EndOutput() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status.erase(d)
	d.writeOut(d.output[0].End())
	if d.output[1] != d.output[0] {
		d.writeErr(d.output[1].End())
	}
}

// OutError is what stopped the writing of stdout.
func (d *display) OutError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.outError
}

// Silence ends all writing to stderr.
func (d *display) Silence() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = screen{}
}

// Close takes the status line away for good.
func (d *display) Close() {
	d.SetStatus("")
	d.EndOutput()
}

// lineOut writes lines to stdout, below what a call has left unfinished there.
func (d *display) lineOut(s string) {
	d.status.erase(d)
	d.leaveQuestion()
	d.writeOut(d.output[0].Break() + s)
}

// lineErr writes lines to stderr. What is unfinished on stdout stays so, unless it is on the same terminal.
func (d *display) lineErr(s string) {
	d.status.erase(d)
	d.leaveQuestion()
	if d.output[1] == d.output[0] {
		d.writeOut(d.output[0].Break())
	} else {
		d.writeErr(d.output[1].Break())
	}
	d.writeErr(s)
}

func (d *display) writeOut(s string) {
	if s == "" || d.outError != nil || d.held.keep(s, d.writeOut) {
		return
	}
	if !d.out.terminal {
		d.status.pause(time.Now())
	}
	err := d.write(d.out, s)
	if err == nil {
		return
	}
	d.outError = fmt.Errorf("cannot write the output: %w", err)
	if errors.Is(err, syscall.EPIPE) {
		d.outError = errNobodyReads
	}
	d.broken(d.outError)
}

func (d *display) writeErr(s string) {
	if s != "" && d.err.file != nil && !d.held.keep(s, d.writeErr) {
		_ = d.write(d.err, s)
	}
}

func (d *display) write(to screen, s string) error {
	d.writes.Add(1)
	defer d.writes.Add(1)
	_, err := io.WriteString(to.file, d.secrets.Text(s))
	return err
}

// SetStatus shows what is being done: a line on a terminal, kept up to date; else a line of its own.
// An empty text takes it away.
func (d *display) SetStatus(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status.set(d, text, time.Now())
}

// Prompt leaves the cursor behind a question on stderr.
func (d *display) Prompt(question string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lineErr(question)
	d.asking, d.question = true, question[strings.LastIndexByte(question, '\n')+1:]
}

// Answered ends what Prompt began: with the Enter of whoever answered, or on a new line.
func (d *display) Answered(entered bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if entered {
		d.asking = false
	}
	d.question = ""
	d.leaveQuestion()
}

// leaveQuestion has what is written next stand below a question, or in the place of one that comes again behind it.
func (d *display) leaveQuestion() {
	switch {
	case !d.asking:
		return
	case d.question != "" && d.err.live:
		d.writeErr("\r\x1b[K")
	default:
		d.writeErr("\n")
	}
	d.asking = false
}

// askAgain keeps a question below what other calls have to show meanwhile.
func (d *display) askAgain() {
	if d.question == "" || d.asking || !d.err.live || d.held != nil {
		return
	}
	d.writeErr(d.question)
	d.asking = true
}
