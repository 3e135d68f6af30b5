package paint

import (
	"strings"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

const columnGap = "  "

// mostPadding is how many blanks align a table. A cell of a megabyte must not make a thousand others as wide.
const mostPadding = 4 << 20

// table aligns columns by display width. With a width to keep to, the widest columns are wrapped.
func (p Painter) table(t *renderv1.TableNode) []string {
	rows := tableRows(t)
	widths := columnWidths(rows)
	if p.Width > 0 {
		shrink(widths, p.Width)
	}
	most := alignable(rows)
	var lines []string
	for i, cells := range rows {
		row := tableLines(cells, widths, most)
		if i == 0 && len(t.GetHeaders()) > 0 {
			row = p.styled(bold, row)
		}
		lines = append(lines, row...)
	}
	return lines
}

// tableRows are all rows, the headers first if there are any, each cell one visible line.
func tableRows(t *renderv1.TableNode) [][]string {
	var rows [][]string
	if len(t.GetHeaders()) > 0 {
		rows = append(rows, cleanCells(t.GetHeaders()))
	}
	for _, r := range t.GetRows() {
		rows = append(rows, cleanCells(r.GetCells()))
	}
	return rows
}

func cleanCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = Line(c)
	}
	return out
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, cells := range rows {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(c))
		}
	}
	return widths
}

// alignable is how wide the cells may be that others are aligned with.
func alignable(rows [][]string) int {
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

// tableLines is one row, as many lines high as its highest cell. No column is made wider than most.
func tableLines(cells []string, widths []int, most int) []string {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		wrapped[i] = wrap(c, widths[i])
		height = max(height, len(wrapped[i]))
	}
	lines := make([]string, height)
	for y := range lines {
		var b strings.Builder
		for x, w := range wrapped {
			part := ""
			if y < len(w) {
				part = w[y]
			}
			b.WriteString(part)
			b.WriteString(strings.Repeat(" ", max(0, min(widths[x], most)-Width(part))))
			b.WriteString(columnGap)
		}
		lines[y] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
