package lineedit

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentco/agent/kernel/internal/paint"
)

// menuRows is how much of a terminal the choices take at most.
const menuRows = 10

// screen is what is drawn of a line. It moves the cursor only by what it has drawn itself.
type screen struct {
	out    io.Writer
	prompt string
	color  bool
	drawn  layout
	rows   int // drawn below the first, with those of the choices
}

// tooLong is said of what is left out.
var tooLong = fmt.Sprintf("  left out: a line holds %d KiB, and a file the rest", lineLimit>>10)

// draw shows a line in place of what was shown.
func (s *screen) draw(l *line, size func() (columns, rows int)) {
	columns, rows := size()
	columns = max(columns, 4)
	shown := lay(s.promptOf(l, columns), l.buffer, columns)
	shown.window(rows)
	var choices []string
	if l.menu != nil {
		choices = l.menu.list(columns, min(menuRows, rows-len(shown.rows)), s.color)
	}
	if l.full && len(shown.rows) < rows {
		choices = append(choices, paint.Clip(tooLong, columns-1))
	}
	var b strings.Builder
	if l.cleared {
		b.WriteString("\x1b[H\x1b[2J")
		s.drawn, s.rows, l.cleared = layout{}, 0, false
	}
	b.WriteString(up(s.drawn.cursor.row) + "\r")
	for i, r := range shown.rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		// Before the text: behind a full row the cursor still stands on its last character.
		b.WriteString("\x1b[K" + r.text)
	}
	for _, c := range choices {
		b.WriteString("\r\n\x1b[K" + c)
	}
	below := len(shown.rows) + len(choices) - 1
	if s.rows > below {
		b.WriteString("\r\n\x1b[J\x1b[A")
	}
	b.WriteString(up(below-shown.cursor.row) + "\r" + ahead(shown.cursor.column))
	_, _ = io.WriteString(s.out, b.String())
	s.drawn, s.rows = shown, below
}

// promptOf is the prompt of a line, which a search has one of its own for. At least half the columns are left.
func (s *screen) promptOf(l *line, columns int) row {
	prompt := s.prompt
	if f := l.finding; f != nil {
		word := "search: "
		switch {
		case f.missing:
			word = "not found: "
		case f.failed:
			word = "nothing older: "
		}
		prompt = word + paint.Line(f.query) + " › "
	}
	if room := columns / 2; paint.Width(prompt) > room {
		prompt = paint.Clip(strings.TrimRight(prompt, " "), room-1) + " "
	}
	r := row{prompt, paint.Width(prompt)}
	if s.color {
		r.text = "\x1b[1m" + prompt + "\x1b[0m"
	}
	return r
}

// resized notes where the cursor is now that a terminal has wrapped anew what was drawn: rows that are too long for it
// became several.
func (s *screen) resized(size func() (columns, rows int)) {
	columns, _ := size()
	columns = max(columns, 4)
	above := 0
	for _, r := range s.drawn.rows[:min(s.drawn.cursor.row, len(s.drawn.rows))] {
		above += max(0, r.width-1) / columns
	}
	s.drawn.cursor.row += above + s.drawn.cursor.column/columns
	s.rows += above + menuRows // whatever is below has to go
}

// erase takes away what is drawn, and leaves the cursor where it began.
func (s *screen) erase() {
	_, _ = io.WriteString(s.out, up(s.drawn.cursor.row)+"\r\x1b[J")
	s.forget()
}

// forget has the line drawn where the cursor is now.
func (s *screen) forget() { s.drawn, s.rows = layout{}, 0 }

// leave shows the line as it was left, and puts the cursor below it.
func (s *screen) leave(l *line, size func() (columns, rows int)) {
	l.at, l.menu, l.finding, l.full = len(l.text), nil, nil, false
	s.draw(l, size)
	mark := ""
	if l.givenUp {
		mark = "^C"
	}
	_, _ = io.WriteString(s.out, mark+"\r\n")
}

func up(rows int) string {
	if rows <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA", rows)
}

func ahead(columns int) string {
	if columns <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dC", columns)
}
