package render

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// longestContext is how many bytes of a line are shown that stays as it is.
const longestContext = 2 << 10

// Diff is a unified diff with three lines of context. Line endings are not part of the lines shown, so a change
// of nothing but endings shows as the same line removed and added. Of a line of context that is longer than 2 KiB only
// the beginning is shown, and how much is left out: it must not take the room of what changes.
func Diff(before, after string) Node {
	before, after = valid(before), valid(after)
	diff := &renderv1.DiffNode{}
	unified, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		// ToUnifiedDiff fails only on edits that do not fit the text; these were made from it.
		return Styled(Error, "the change cannot be shown: "+err.Error())
	}
	for _, hunk := range unified.Hunks {
		diff.Hunks = append(diff.Hunks, diffHunk(hunk))
	}
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Diff{Diff: diff}}
}

func diffHunk(hunk *udiff.Hunk) *renderv1.DiffHunk {
	out := &renderv1.DiffHunk{OldStart: int32(hunk.FromLine), NewStart: int32(hunk.ToLine)}
	for _, line := range hunk.Lines {
		op := renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT
		switch line.Kind {
		case udiff.Insert:
			op = renderv1.DiffLineOp_DIFF_LINE_OP_ADD
			out.NewLines++
		case udiff.Delete:
			op = renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE
			out.OldLines++
		default:
			out.OldLines++
			out.NewLines++
		}
		text := strings.TrimSuffix(strings.TrimSuffix(line.Content, "\n"), "\r")
		if op == renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT && len(text) > longestContext {
			shown := strings.ToValidUTF8(text[:longestContext], "")
			text = fmt.Sprintf("%s…[%d bytes]…", shown, len(text)-len(shown))
		}
		out.Lines = append(out.Lines, &renderv1.DiffLine{Op: op, Text: text})
	}
	// By convention a range without lines starts at the line it comes after.
	if out.OldLines == 0 {
		out.OldStart--
	}
	if out.NewLines == 0 {
		out.NewStart--
	}
	return out
}
