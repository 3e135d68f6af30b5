package cli

import (
	"io"
	"strings"

	"github.com/agentco/agent/kernel/internal/paint"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// narrow is how many columns a terminal has at most for tables to be shown as a list: side by side there would be
// a word or two on each line.
const narrow = 60

// table prints rows the way a provider's table is painted.
func (a *app) table(headers []string, rows [][]string) {
	p := a.display.OutPainter()
	text := ""
	if p.Width > 0 && p.Width < narrow && len(headers) > 2 {
		text = stacked(rows, p)
	} else {
		text = tableText(headers, rows, p)
	}
	_, _ = io.WriteString(a.display.Out(), text)
}

func tableText(headers []string, rows [][]string, p paint.Painter) string {
	t := &renderv1.TableNode{Headers: headers}
	for _, cells := range rows {
		t.Rows = append(t.Rows, &renderv1.TableRow{Cells: cells})
	}
	return p.Tree(&renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: t}}})
}

// stacked shows each row as its first cell, and below it the others: the last of them is text.
func stacked(rows [][]string, p paint.Painter) string {
	var b strings.Builder
	for _, cells := range rows {
		last := len(cells) - 1
		b.WriteString(prose(cells[0], "", p.Bold, p))
		var short []string
		for _, c := range cells[1:last] {
			if c != "" {
				short = append(short, c)
			}
		}
		b.WriteString(prose(strings.Join(short, ", "), "  ", p.Dim, p))
		b.WriteString(prose(cells[last], "  ", nil, p))
	}
	return b.String()
}

// prose wraps a text between words, and indents it; a line that is indented already keeps to that. Without a width to
// keep to, its lines stay as they are.
func prose(text, indent string, style func(string) string, p paint.Painter) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = paint.Line(line)
		words := strings.TrimLeft(line, " ")
		before := indent + line[:len(line)-len(words)]
		inner := paint.Painter{Width: max(0, p.Width-len(before))}
		for part := range strings.Lines(tableText(nil, [][]string{{words}}, inner)) {
			part = strings.TrimSuffix(part, "\n")
			if style != nil {
				part = style(part)
			}
			b.WriteString(strings.TrimRight(before+part, " ") + "\n")
		}
	}
	return b.String()
}
