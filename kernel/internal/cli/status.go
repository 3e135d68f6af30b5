package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/agentco/agent/kernel/internal/paint"
)

const (
	// redraw is how often the status line moves on a terminal.
	redraw = 100 * time.Millisecond
	// relay is how long the next program of a pipeline has to bring a line to the same terminal.
	relay = 2 * redraw
	// quiet is how long a log without terminal waits between two lines that differ in their numbers alone.
	quiet = time.Second
)

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// status is the line that says what is being done. On a terminal it is drawn last, below everything, and
// redrawn by a ticker, so that any number of progress events costs ten writes a second.
type status struct {
	text    string
	since   time.Time
	drawn   bool
	frame   int
	ticking chan struct{} // closed to stop the ticker
	logged  time.Time     // when a line was last written to a log
	shape   string        // that line without its digits
	rests   time.Time     // when it may be drawn again
}

func (s *status) set(d *display, text string, now time.Time) {
	if text == s.text {
		return
	}
	if s.text == "" {
		s.since = now
	}
	s.text = text
	switch {
	case text == "":
		s.stop()
		s.erase(d)
	case d.err.live:
		s.start(d)
		if !s.drawn {
			s.draw(d)
		}
	default:
		s.log(d, now)
	}
}

func (s *status) log(d *display, now time.Time) {
	shape := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == ' ' {
			return -1
		}
		return r
	}, s.text)
	if shape == s.shape && now.Sub(s.logged) < quiet {
		return
	}
	s.logged, s.shape = now, shape
	d.lineErr("· " + s.text + "\n")
}

func (s *status) start(d *display) {
	if s.ticking != nil {
		return
	}
	s.ticking = make(chan struct{})
	go func(stop <-chan struct{}) {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				d.mu.Lock()
				s.frame++
				s.draw(d)
				d.mu.Unlock()
			}
		}
	}(s.ticking)
}

func (s *status) stop() {
	if s.ticking != nil {
		close(s.ticking)
		s.ticking = nil
	}
}

// draw shows the line, unless output is in the middle of one, or a person is about to type there.
func (s *status) draw(d *display) {
	if d.question != "" || d.above != nil {
		return
	}
	if s.text == "" || !d.err.live || d.held != nil || d.output[0].MidLine() || d.output[1].MidLine() || time.Now().Before(s.rests) {
		return
	}
	line := fmt.Sprintf("%c %s", spinner[s.frame%len(spinner)], s.text)
	if took := time.Since(s.since); took >= time.Second {
		line += fmt.Sprintf(" (%ds)", int(took.Seconds()))
	}
	d.writeErr("\r\x1b[K" + d.ErrPainter().Dim(paint.Clip(line, d.err.width()-1)))
	s.drawn = true
}

// pause keeps the line away for a moment, for what was written to stdout: a pipe may lead to the same terminal, and what
// comes out there a little later must not stand behind a status.
func (s *status) pause(now time.Time) { s.rests = now.Add(relay) }

func (s *status) erase(d *display) {
	if s.drawn {
		d.writeErr("\r\x1b[K")
		s.drawn = false
	}
}
