// Package diff shows what changed in a file: as the unified text that models
// know, and from there as nodes for people. Both are bounded.
package diff

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/sdk/render"
)

// Thorough bounds, in bytes, the texts that are compared in detail: finding the
// shortest diff takes time that grows with the square of them.
const Thorough = 256 << 10

// Side is one of the two texts, or a part of it.
type Side struct {
	Text  string
	Lines int // in the part
}

func side(text string) Side {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return Side{Text: text, Lines: n}
}

// Unified returns the unified diff between two texts, empty if they are equal.
// Of more than limit bytes it returns the first whole lines, and clipped.
func Unified(path, before, after string, limit int) (text string, clipped bool) {
	return Between(path, side(before), side(after), 0, limit)
}

// Between is [Unified] for parts that have so many equal lines above them.
func Between(path string, before, after Side, above, limit int) (text string, clipped bool) {
	if before.Text == after.Text {
		return "", false
	}
	from, to := labels(path)
	// Only what lies between the lines that both begin with and those that both
	// end with can differ: usually that is little.
	head := commonLines(before.Text, after.Text)
	b, a := before.Text[head:], after.Text[head:]
	tail := commonEnd(b, a)
	b, a = b[:len(b)-tail], a[:len(a)-tail]
	if len(b)+len(a) > Thorough {
		same := strings.Count(before.Text[:head], "\n")
		equal := same + side(before.Text[len(before.Text)-tail:]).Lines
		before, after = Side{Text: b, Lines: before.Lines - equal}, Side{Text: a, Lines: after.Lines - equal}
		return clip(coarse(from, to, before, after, above+same, limit), limit)
	}
	edits := udiff.Lines(b, a)
	for i := range edits {
		edits[i].Start += head
		edits[i].End += head
	}
	unified, err := udiff.ToUnifiedDiff(from, to, before.Text, edits, udiff.DefaultContextLines)
	if err != nil {
		// Only edits that do not fit their text fail; these were made from it.
		return "", true
	}
	for _, hunk := range unified.Hunks {
		hunk.FromLine += above
		hunk.ToLine += above
	}
	return clip(unified.String(), limit)
}

func labels(path string) (from, to string) {
	if from, to = "a/"+path, "b/"+path; filepath.IsAbs(path) {
		from, to = path, path
	}
	if strings.ContainsFunc(path, unicode.IsControl) { // as git does
		return strconv.Quote(from), strconv.Quote(to)
	}
	return from, to
}

func clip(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	return text[:strings.LastIndexByte(text[:limit], '\n')+1], true
}

// coarse is the diff of one large change: all of the old lines go, all of the
// new ones come. It goes a little beyond limit and no further.
func coarse(from, to string, before, after Side, above, limit int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", from, to, lineRange(above, before.Lines), lineRange(above, after.Lines))
	for _, side := range []struct{ op, text string }{{"-", before.Text}, {"+", after.Text}} {
		for line := range strings.Lines(side.text) {
			out.WriteString(side.op)
			out.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
			if out.Len() > limit {
				return out.String()
			}
		}
	}
	return out.String()
}

// lineRange is n lines below so many. Nothing lies at the line above it.
func lineRange(above, n int) string { return fmt.Sprintf("%d,%d", above+min(n, 1), n) }

// commonLines returns the length of the whole lines that a and b begin with.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonEnd returns the length of the whole lines that a and b end with. Both
// begin at the start of a line.
func commonEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if n == len(a) || n == len(b) {
		if n == len(a) && n == len(b) || n < len(a) && a[len(a)-1-n] == '\n' || n < len(b) && b[len(b)-1-n] == '\n' {
			return n
		}
	}
	end := a[len(a)-n:]
	if first := strings.IndexByte(end, '\n'); first >= 0 {
		return n - first - 1
	}
	return 0
}

// Node turns a unified diff of one file, whole or an excerpt, into a node. The
// lengths of a hunk are those of the whole one. A CR at the end of a line stays:
// it is there only if it is what changed, or if the file has ends of both kinds.
func Node(unified string) render.Node {
	node := &renderv1.DiffNode{}
	var hunk *renderv1.DiffHunk
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@ "):
			hunk = parseHunk(line)
			node.Hunks = append(node.Hunks, hunk)
		case hunk != nil && line != "":
			addLine(hunk, line[0], line[1:])
		}
	}
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Diff{Diff: node}}
}

func addLine(hunk *renderv1.DiffHunk, op byte, text string) {
	ops := map[byte]renderv1.DiffLineOp{
		' ': renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT, '-': renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE, '+': renderv1.DiffLineOp_DIFF_LINE_OP_ADD,
	}
	if op, ok := ops[op]; ok { // what begins with a backslash is about the diff
		hunk.Lines = append(hunk.Lines, &renderv1.DiffLine{Op: op, Text: text})
	}
}

// parseHunk reads "@@ -1,4 +1,6 @@"; a length that is left out is 1.
func parseHunk(line string) *renderv1.DiffHunk {
	hunk := &renderv1.DiffHunk{}
	for _, field := range strings.Fields(line) {
		start, length, given := strings.Cut(field[1:], ",")
		n, err := strconv.ParseInt(start, 10, 32)
		lines := int64(1)
		if given && err == nil {
			lines, err = strconv.ParseInt(length, 10, 32)
		}
		switch {
		case err != nil:
		case field[0] == '-':
			hunk.OldStart, hunk.OldLines = int32(n), int32(lines)
		case field[0] == '+':
			hunk.NewStart, hunk.NewLines = int32(n), int32(lines)
		}
	}
	return hunk
}
