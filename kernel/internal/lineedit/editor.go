// Package lineedit reads lines from a person at a terminal, with history, search and completion.
//
//	Editor ─► keys (bytes → commands) ─► line (what is edited) ─► layout (rows and cursor) ─► screen (what is drawn)
//
// It asks the terminal nothing, so it works where nothing would answer, and measures characters as paint does. The keys
// are those of Emacs, as in most shells.
package lineedit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// ErrInterrupted is a line that was given up with Ctrl-C.
var ErrInterrupted = errors.New("the line was given up")

// escapeTime is how long the rest of a key may take to arrive: over a slow line an arrow comes in pieces.
const escapeTime = 100 * time.Millisecond

// Editor is a person at a terminal. Its fields are set before the first Read; it serves one Read at a time.
type Editor struct {
	// History is what Up, Down and Ctrl-R offer; nil for nothing.
	History *History
	// Complete offers what may stand at the cursor, at byte at of text; nil for nothing. It must not call the Editor.
	Complete func(text string, at int) Completions
	// Unfinished reports whether Enter has to begin another row instead of ending the line; nil for never.
	Unfinished func(text string) bool
	// Color lets the prompt and the choices be coloured.
	Color bool

	in      *os.File
	out     io.Writer
	size    func() (columns, rows int)
	slowest time.Duration // that the rest of a key may be
	chunks  chan chunk
	waiting bool   // a chunk was asked for and has not come yet
	pending []byte // what was typed and not used yet
	yanked  string // what was last cut

	mu     sync.Mutex // guards what follows, and is held by whoever draws
	line   *line      // nil when nothing is read
	screen *screen
}

type chunk struct {
	data []byte
	err  error
}

// New is an editor of the lines that come from a terminal, drawn on another file of it.
func New(in, out *os.File) *Editor {
	return &Editor{in: in, out: out, slowest: escapeTime, chunks: make(chan chunk, 1), size: func() (int, int) { return sizeOf(out) }}
}

func sizeOf(f *os.File) (columns, rows int) {
	if conn, err := f.SyscallConn(); err == nil { // Fd would end the deadlines of the file
		_ = conn.Control(func(fd uintptr) { columns, rows, _ = term.GetSize(int(fd)) })
	}
	if columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}

// Read shows a prompt and returns the line that is typed behind it, once it is ended with Enter. Ctrl-C is
// ErrInterrupted, Ctrl-D on an empty line io.EOF; the end of ctx is its cause. The terminal is in raw mode as long as
// Read runs, and back in its own when it returns, or panics. What was typed ahead belongs to the next Read, but for a
// Ctrl-C right behind Enter, before the terminal makes a signal of it: that is for the line, which is returned with
// ErrInterrupted.
func (e *Editor) Read(ctx context.Context, prompt string) (string, error) {
	return e.Edit(ctx, prompt, "")
}

// Edit is Read of a line that has a text already.
func (e *Editor) Edit(ctx context.Context, prompt, text string) (string, error) {
	text, err := e.read(ctx, prompt, text)
	if err == nil && e.takeInterrupt() {
		err = ErrInterrupted
	}
	return text, err
}

func (e *Editor) read(ctx context.Context, prompt, text string) (string, error) {
	restore, err := raw(e.in)
	if err != nil {
		return "", err
	}
	defer restore()
	_, _ = io.WriteString(e.out, pasteOn)
	defer func() { _, _ = io.WriteString(e.out, pasteOff) }()
	changed, stop := watchTerminal()
	defer stop()
	e.begin(prompt, text)
	defer e.leave()
	for {
		e.draw()
		end, err := e.step(ctx, changed)
		if err != nil {
			return "", err
		}
		if end {
			return e.line.text, nil
		}
	}
}

// Close has nobody read the terminal any more: an Edit that was left may be waiting for its next key still, which is lost
// if it has been pressed.
func (e *Editor) Close() {
	if e.waiting {
		e.stopAsking()
	}
}

func (e *Editor) begin(prompt, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line = &line{editor: e, history: e.History.begin(), buffer: buffer{text: text, at: len(text)}}
	e.screen = &screen{out: e.out, prompt: prompt, color: e.Color}
}

func (e *Editor) draw() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.draw(e.line, e.size)
}

func (e *Editor) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.leave(e.line, e.size)
	e.line = nil
}

// Interject has something written above the line that is being read, in whole lines; when none is read it is just
// written. It may be called from many goroutines.
func (e *Editor) Interject(write func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.line == nil {
		write()
		return
	}
	e.screen.erase()
	write()
	e.screen.draw(e.line, e.size)
}

// raw has a terminal hand over every key as it is pressed, and show none itself, until restore is called.
func raw(f *os.File) (restore func(), err error) {
	conn, err := f.SyscallConn() // Fd would end the deadlines of the file
	if err != nil {
		return nil, err
	}
	var before *term.State
	if refused := conn.Control(func(fd uintptr) { before, err = term.MakeRaw(int(fd)) }); refused != nil || err != nil {
		return nil, errors.Join(refused, err)
	}
	return func() {
		_ = conn.Control(func(fd uintptr) { _ = term.Restore(int(fd), before) })
	}, nil
}

// step waits for something to happen and does it. What was typed at once is drawn once.
func (e *Editor) step(ctx context.Context, changed <-chan os.Signal) (end bool, err error) {
	for used := false; ; used = true {
		k, n := decode(e.pending, false)
		if n == 0 && used {
			return false, nil
		}
		if n == 0 {
			return e.more(ctx, changed)
		}
		e.pending = e.pending[n:]
		if end, err := e.press(k); end || err != nil {
			return end, err
		}
	}
}

func (e *Editor) press(k key) (end bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.line.press(k)
}

// more waits for input. A lone Escape is one when nothing follows it soon.
func (e *Editor) more(ctx context.Context, changed <-chan os.Signal) (end bool, err error) {
	e.ask()
	var late <-chan time.Time
	if len(e.pending) > 0 && !isPaste(e.pending) {
		late = time.After(e.slowest)
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case s := <-changed:
		return false, e.terminalChanged(s)
	case <-late:
		if c := e.stopAsking(); len(c.data) > 0 || c.err != nil {
			return false, e.take(c)
		}
		k, n := decode(e.pending, true)
		e.pending = e.pending[n:]
		return e.press(k)
	case c := <-e.chunks:
		e.waiting = false
		return false, e.take(c)
	}
}

// take adds to what was typed.
func (e *Editor) take(c chunk) error {
	if c.err != nil && !errors.Is(c.err, os.ErrDeadlineExceeded) {
		return c.err
	}
	if isPaste(e.pending) && string(c.data) == string(controlC) {
		e.pending = nil // the end of the paste was lost on its way
	}
	e.pending = shorten(append(e.pending, c.data...))
	return nil
}

// stopAsking is what is there of the chunk that was asked for, however long whoever reads it takes to hand it over: it is
// empty when nothing has been typed.
func (e *Editor) stopAsking() (c chunk) {
	patience := e.slowest
	if e.in.SetReadDeadline(time.Now()) != nil { // as with some terminals, whose reader goes on
		patience = 0
	}
	defer func() { _ = e.in.SetReadDeadline(time.Time{}) }()
	select {
	case c = <-e.chunks:
	case <-time.After(patience): // the reader is in a wait that has no end
		select {
		case c = <-e.chunks:
		default:
			return chunk{}
		}
	}
	e.waiting = false
	if errors.Is(c.err, os.ErrDeadlineExceeded) {
		return chunk{data: waiting(e.in)}
	}
	return c
}

// terminalChanged takes a terminal as it is now: of another size, or as others left it.
func (e *Editor) terminalChanged(s os.Signal) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !goesOn(s) {
		e.screen.resized(e.size)
		return nil
	}
	e.screen.forget()
	_, _ = io.WriteString(e.out, pasteOn)
	_, err := raw(e.in) // what it was before is known from the beginning of the line
	return err
}

// takeInterrupt takes a Ctrl-C that comes next in what was typed while the terminal was raw.
func (e *Editor) takeInterrupt() bool {
	if !e.waiting { // for which somebody else reads
		e.pending = shorten(append(e.pending, waiting(e.in)...))
	}
	rest, pressed := bytes.CutPrefix(e.pending, []byte{controlC})
	e.pending = rest
	return pressed
}

// ask has one chunk read, so that nobody reads the terminal while no line is wanted.
func (e *Editor) ask() {
	if e.waiting {
		return
	}
	e.waiting = true
	go func() {
		buf := make([]byte, 4096)
		n, err := e.in.Read(buf)
		if n > 0 {
			err = nil
		}
		e.chunks <- chunk{buf[:n], err}
	}()
}
