package lineedit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentco/agent/kernel/internal/paint"
)

// continuation begins the rows of a line after its first.
const continuation = "> "

// layout is how a line stands on a terminal: rows of at most its columns, and the place of the cursor.
type layout struct {
	rows   []row
	cursor place
}

type place struct{ row, column int }

// row is text and the columns it takes.
type row struct {
	text  string
	width int
}

func (l *layout) last() *row { return &l.rows[len(l.rows)-1] }

func (l *layout) end() place { return place{len(l.rows) - 1, l.last().width} }

// put adds one character, on a row of its own when there is no room for it.
func (l *layout) put(text string, columns int) {
	width := paint.Width(text)
	if l.last().width+width > columns {
		l.rows = append(l.rows, row{})
	}
	l.last().text += text
	l.last().width += width
}

// run is how many characters from byte i on, at most some, can be shown as they are, with a column each.
func run(s string, i, most int) int {
	n := 0
	for n < most && i+n < len(s) && s[i+n] >= ' ' && s[i+n] < 0x7f {
		n++
	}
	if i+n < len(s) && s[i+n] >= utf8.RuneSelf {
		n-- // a mark may belong to the last
	}
	return max(n, 0)
}

// plain puts such characters, as far as there is room for them on the row, and returns how many that were.
func (l *layout) plain(s string, columns int) int {
	if l.last().width >= columns {
		l.rows = append(l.rows, row{})
	}
	n := min(len(s), columns-l.last().width)
	l.last().text += s[:n]
	l.last().width += n
	return n
}

// lay lays out a line behind a prompt, which leaves room for a character.
func lay(prompt row, b buffer, columns int) layout {
	l := layout{rows: []row{prompt}}
	for i := 0; i < len(b.text); {
		if i == b.at {
			l.cursor = l.end()
		}
		if n := run(b.text, i, columns); n > 0 {
			if i < b.at {
				n = min(n, b.at-i)
			}
			i += l.plain(b.text[i:i+n], columns)
			continue
		}
		to := after(b.text, i)
		if b.text[i] == '\n' {
			l.rows = append(l.rows, row{continuation, len(continuation)})
		} else {
			l.character(b.text[i:to], columns)
		}
		i = to
	}
	if b.at == len(b.text) {
		l.cursor = l.end()
	}
	// The cursor never stands behind the last column, where terminals differ in what they do.
	if l.cursor.column >= columns {
		l.cursor = place{l.cursor.row + 1, 0}
		if l.cursor.row == len(l.rows) {
			l.rows = append(l.rows, row{})
		}
	}
	return l
}

// character shows what cannot be shown as itself as signs, which may be on two rows.
func (l *layout) character(text string, columns int) {
	if text == "\t" {
		text = "␉"
	}
	shown := paint.Line(text)
	if shown == text {
		l.put(text, columns)
		return
	}
	for i := 0; i < len(shown); {
		to := after(shown, i)
		l.put(shown[i:to], columns)
		i = to
	}
}

// window leaves as many rows as fit, those around the cursor.
func (l *layout) window(rows int) {
	if len(l.rows) <= rows {
		return
	}
	from := min(max(0, l.cursor.row-rows/2), len(l.rows)-rows)
	l.rows = l.rows[from : from+rows]
	l.cursor.row -= from
}

// list are the rows of the choices, one of them marked.
func (m *menu) list(columns, rows int, color bool) []string {
	if rows < 2 {
		return nil
	}
	shown, from := len(m.Choices), 0
	if shown > rows {
		shown = rows - 1 // the last row says how many there are
		from = min(max(0, m.selected-shown/2), len(m.Choices)-shown)
	}
	var lines []string
	for i := from; i < from+shown; i++ {
		lines = append(lines, m.Choices[i].row(i == m.selected, min(m.widest, columns-3), columns-1, color))
	}
	if shown < len(m.Choices) {
		lines = append(lines, paint.Clip(fmt.Sprintf("  … %d in all", len(m.Choices)), columns-1))
	}
	return lines
}

// row is a choice with as much of its description as there is room for.
func (c Choice) row(selected bool, widest, columns int, color bool) string {
	mark := "  "
	if selected {
		mark = "› "
	}
	label := paint.Clip(paint.Line(c.label()), widest)
	text := mark + label
	if room := columns - widest - 4; c.Description != "" && room >= 12 {
		gap := strings.Repeat(" ", widest-paint.Width(label)+2)
		description := paint.Clip(paint.Line(c.Description), room)
		if color && !selected {
			description = "\x1b[2m" + description + "\x1b[0m"
		}
		text += gap + description
	}
	if color && selected {
		return "\x1b[7m" + text + "\x1b[0m"
	}
	return text
}
