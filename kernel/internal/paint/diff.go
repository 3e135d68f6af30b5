package paint

import (
	"fmt"
	"strings"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

func (p Painter) diff(d *renderv1.DiffNode) []string {
	var lines []string
	for _, h := range d.GetHunks() {
		head := fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.GetOldStart(), h.GetOldLines(), h.GetNewStart(), h.GetNewLines())
		lines = append(lines, p.style(cyan, head))
		for _, l := range h.GetLines() {
			lines = append(lines, p.diffLine(l))
		}
	}
	return lines
}

// diffLine keeps a carriage return visible: a change of the line ending alone would show two equal lines.
func (p Painter) diffLine(l *renderv1.DiffLine) string {
	text := clean(strings.TrimSuffix(l.GetText(), "\n"), "\t")
	switch l.GetOp() {
	case renderv1.DiffLineOp_DIFF_LINE_OP_ADD:
		return p.style(green, "+"+text)
	case renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE:
		return p.style(red, "-"+text)
	case renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT:
		return " " + text
	default:
		return "?" + text
	}
}
