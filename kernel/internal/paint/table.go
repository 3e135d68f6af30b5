package paint

import (
	"bytes"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

const columnGap = "  "

// mostPadding is how many blanks align a table. A cell of a megabyte must not make a thousand others as wide.
const mostPadding = 4 << 20

// cell is one visible line, and the columns it takes.
type cell struct {
	text  string
	width int
}

// table aligns columns by display width. With a width to keep to, the widest columns are wrapped.
func (p Painter) table(t *renderv1.TableNode) []string {
	rows := tableRows(t)
	widths := columnWidths(rows)
	if p.Width > 0 {
		shrink(widths, p.Width)
	}
	painted := tablePainter{widths: widths, most: alignable(rows), lines: make([]string, 0, len(rows))}
	for i, cells := range rows {
		from := len(painted.lines)
		painted.row(cells)
		if i == 0 && len(t.GetHeaders()) > 0 {
			p.styled(bold, painted.lines[from:])
		}
	}
	return painted.lines
}

// tableRows are all rows, the headers first if there are any.
func tableRows(t *renderv1.TableNode) [][]cell {
	rows := make([][]cell, 0, 1+len(t.GetRows()))
	if len(t.GetHeaders()) > 0 {
		rows = append(rows, measured(t.GetHeaders()))
	}
	for _, r := range t.GetRows() {
		rows = append(rows, measured(r.GetCells()))
	}
	return rows
}

func measured(cells []string) []cell {
	out := make([]cell, len(cells))
	for i, c := range cells {
		text := Line(c)
		out[i] = cell{text, Width(text)}
	}
	return out
}

func cleanCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = Line(c)
	}
	return out
}

func columnWidths(rows [][]cell) []int {
	var widths []int
	for _, cells := range rows {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], c.width)
		}
	}
	return widths
}

// alignable is how wide the cells may be that others are aligned with.
func alignable(rows [][]cell) int {
	const always = 16
	cells := 1
	for _, row := range rows {
		cells += len(row)
	}
	return max(always, mostPadding/cells)
}

// shrink narrows the widest columns until the table fits, or until nothing readable would be left.
func shrink(widths []int, limit int) {
	const readable = 12
	total := max(0, len(widths)-1) * len(columnGap)
	for _, w := range widths {
		total += w
	}
	for total > limit {
		first, second := widest(widths)
		if widths[first] <= readable {
			return
		}
		// Down to the next widest at once: a cell can be megabytes long.
		to := max(readable, widths[first]-(total-limit), min(second, widths[first]-1))
		total -= widths[first] - to
		widths[first] = to
	}
}

// widest is the index of the widest column and the width of the next.
func widest(widths []int) (first, second int) {
	for i, w := range widths {
		switch {
		case w > widths[first]:
			first, second = i, widths[first]
		case i != first:
			second = max(second, w)
		}
	}
	return first, second
}

// tablePainter paints rows into lines. No column is made wider than most.
type tablePainter struct {
	widths []int
	most   int
	lines  []string
	line   []byte // the one at hand
}

// row paints one row, as many lines high as its highest cell.
func (t *tablePainter) row(cells []cell) {
	fits := true
	for i, c := range cells {
		fits = fits && c.width <= t.widths[i]
	}
	if fits {
		t.add(cells)
		return
	}
	wrapped := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		wrapped[i] = wrap(c.text, t.widths[i])
		height = max(height, len(wrapped[i]))
	}
	parts := make([]cell, len(cells))
	for y := range height {
		for x, w := range wrapped {
			parts[x] = cell{}
			if y < len(w) {
				parts[x] = cell{w[y], Width(w[y])}
			}
		}
		t.add(parts)
	}
}

// add paints one line.
func (t *tablePainter) add(cells []cell) {
	t.line = t.line[:0]
	for i, c := range cells {
		t.line = append(t.line, c.text...)
		for range min(t.widths[i], t.most) - c.width {
			t.line = append(t.line, ' ')
		}
		t.line = append(t.line, columnGap...)
	}
	t.lines = append(t.lines, string(bytes.TrimRight(t.line, " ")))
}
