// Package diff shows what changed in a file: as the unified text that models
// know, and from there as nodes for people. Both are bounded.
package diff

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/sdk/render"
)

// thorough bounds the texts that are compared in detail. Beyond it what differs
// is shown as one change: finding the shortest diff takes time that grows with
// the square of it.
const thorough = 256 << 10

// Unified returns the unified diff between two texts, empty if they are equal.
// Of more than limit bytes it returns the first whole lines, and clipped.
func Unified(path, before, after string, limit int) (text string, clipped bool) {
	if before == after {
		return "", false
	}
	from, to := labels(path)
	text, err := udiff.ToUnified(from, to, before, edits(before, after), udiff.DefaultContextLines)
	if err != nil {
		// Only edits that do not fit their text fail; these were made from it.
		return "", true
	}
	if len(text) <= limit {
		return text, false
	}
	return text[:strings.LastIndexByte(text[:limit], '\n')+1], true
}

func labels(path string) (from, to string) {
	if filepath.IsAbs(path) {
		return path, path
	}
	return "a/" + path, "b/" + path
}

// edits compares only what lies between the lines that both texts begin with and
// those that both end with: usually that is little.
func edits(before, after string) []udiff.Edit {
	head := commonLines(before, after)
	b, a := before[head:], after[head:]
	tail := commonEnd(b, a)
	b, a = b[:len(b)-tail], a[:len(a)-tail]
	if len(b)+len(a) > thorough {
		return []udiff.Edit{{Start: head, End: head + len(b), New: a}}
	}
	found := udiff.Lines(b, a)
	for i := range found {
		found[i].Start += head
		found[i].End += head
	}
	return found
}

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

// Node turns a unified diff of one file, whole or clipped, into a node.
func Node(unified string) render.Node {
	node := &renderv1.DiffNode{}
	var hunk *renderv1.DiffHunk
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
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
	line := &renderv1.DiffLine{Text: text}
	switch op {
	case ' ':
		line.Op = renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT
		hunk.OldLines++
		hunk.NewLines++
	case '-':
		line.Op = renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE
		hunk.OldLines++
	case '+':
		line.Op = renderv1.DiffLineOp_DIFF_LINE_OP_ADD
		hunk.NewLines++
	default: // "\ No newline at end of file"
		return
	}
	hunk.Lines = append(hunk.Lines, line)
}

// parseHunk reads where a hunk begins from "@@ -1,4 +1,6 @@". Its lengths are
// counted instead, since it may have been clipped.
func parseHunk(line string) *renderv1.DiffHunk {
	hunk := &renderv1.DiffHunk{}
	for _, field := range strings.Fields(line) {
		start, _, _ := strings.Cut(field[1:], ",")
		n, err := strconv.ParseInt(start, 10, 32)
		switch {
		case err != nil:
		case field[0] == '-':
			hunk.OldStart = int32(n)
		case field[0] == '+':
			hunk.NewStart = int32(n)
		}
	}
	return hunk
}
