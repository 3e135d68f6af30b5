// Package transcript keeps what a command has printed for whoever asks, also while it goes
// on printing.
package transcript

import (
	"context"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agentco/agent/providers/bash/internal/capture"
	"github.com/agentco/agent/providers/bash/internal/summary"
)

// Transcript is the output of one command. It is safe for concurrent use.
type Transcript struct {
	limit int

	mu      sync.Mutex
	output  *capture.Output
	scanner summary.Scanner
	ended   bool
	news    chan struct{} // nil unless somebody waits; closed when something has happened
}

// Piece is a stretch of output as valid UTF-8.
type Piece struct {
	Text  string
	Start int64 // offset of its first byte; later than asked for if what was there is lost
	Next  int64 // where to go on
	Total int64 // bytes printed so far
}

// View is the whole output as a result shows it.
type View struct {
	Text  string // beginning and end
	Total int64
	Path  string // file with everything; empty if Text is
	Err   error  // why there is no such file
}

// New returns an empty transcript that shows limit bytes at once. See [capture.New] for open.
func New(limit int, open func() (*os.File, error)) *Transcript {
	return &Transcript{limit: limit, output: capture.New(limit, open)}
}

// Write takes the next bytes of stream 0, the command's stdout, or 1, its stderr.
func (t *Transcript) Write(stream int, p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.output.Write(p)
	t.scanner.Write(stream, p)
	t.announce()
}

// End says that nothing more will be written.
func (t *Transcript) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.announce()
}

func (t *Transcript) announce() {
	if t.news != nil {
		close(t.news)
		t.news = nil
	}
}

// Total is how many bytes were written.
func (t *Transcript) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output.Total()
}

// Ended reports whether nothing more will be written.
func (t *Transcript) Ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// Close gives up the file, which stays on disk. Nothing may be read any more.
func (t *Transcript) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.output.Close()
}

// Summary is a line about the output of a command that has ended.
func (t *Transcript) Summary(code int, signal string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scanner.Line(code, signal)
}

// View shows the whole output.
func (t *Transcript) View() View {
	t.mu.Lock()
	defer t.mu.Unlock()
	path, err := t.output.Path()
	return View{Text: t.output.Text(), Total: t.output.Total(), Path: path, Err: err}
}

// Read returns what there is from offset on, as much as is shown at once. A character of
// which the end may yet come is left for the next piece.
func (t *Transcript) Read(offset int64) Piece {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read(offset)
}

func (t *Transcript) read(offset int64) Piece {
	total := t.output.Total()
	p, start := t.output.Read(min(offset, total), t.limit)
	if !t.ended || start+int64(len(p)) < total {
		p = whole(p)
	}
	text, used := capture.First(p, t.limit)
	return Piece{Text: text, Start: start, Next: start + int64(used), Total: total}
}

// whole is p without the beginning of a character at its end.
func whole(p []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(p)); i++ {
		if b := p[len(p)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// Await returns when there is something to Read from offset on, when nothing more will
// come, or when ctx is done.
func (t *Transcript) Await(ctx context.Context, offset int64) {
	for {
		t.mu.Lock()
		ready := t.ended || t.read(offset).Text != ""
		news := t.listen()
		t.mu.Unlock()
		if ready {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// AwaitSilence returns when nothing has come for a while, when nothing more will, or when
// ctx is done.
func (t *Transcript) AwaitSilence(ctx context.Context, silence time.Duration) {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		t.mu.Lock()
		ended, news := t.ended, t.listen()
		t.mu.Unlock()
		if ended {
			return
		}
		select {
		case <-news:
			timer.Reset(silence)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (t *Transcript) listen() <-chan struct{} {
	if t.news == nil {
		t.news = make(chan struct{})
	}
	return t.news
}
