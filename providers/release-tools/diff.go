package main

import (
	"fmt"
	"strings"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/sdk/render"
)

// told is a diff as far as a message carries it: "" when it is too large, as one with a line of megabytes is. What was
// changed stands, and an answer that cannot be sent would say that it failed.
func told(diff string) string {
	if fits(diff) != nil {
		return ""
	}
	return diff
}

// diffNode shows the unified diff of a payload. What is no such diff is shown as it is.
func diffNode(unified string) render.Node {
	if unified == "" {
		return render.Styled(render.Dim, "the diff is too large to show")
	}
	diff := &renderv1.DiffNode{}
	for line := range strings.SplitSeq(strings.TrimSuffix(unified, "\n"), "\n") {
		if strings.HasPrefix(line, "@@ ") {
			h, err := readHunk(line)
			if err != nil {
				return render.Code("diff", unified)
			}
			diff.Hunks = append(diff.Hunks, h)
			continue
		}
		if n := len(diff.GetHunks()); n > 0 && line != "" {
			addLine(diff.GetHunks()[n-1], line)
		}
	}
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Diff{Diff: diff}}
}

// readHunk reads "@@ -1,6 +1,8 @@"; a count that is left out is 1.
func readHunk(line string) (*renderv1.DiffHunk, error) {
	h := &renderv1.DiffHunk{OldLines: 1, NewLines: 1}
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return nil, fmt.Errorf("%q is no hunk", line)
	}
	for _, side := range []struct {
		text         string
		start, lines *int32
	}{{strings.TrimPrefix(fields[1], "-"), &h.OldStart, &h.OldLines}, {strings.TrimPrefix(fields[2], "+"), &h.NewStart, &h.NewLines}} {
		start, lines, counted := strings.Cut(side.text, ",")
		if _, err := fmt.Sscan(start, side.start); err != nil {
			return nil, err
		}
		if counted {
			if _, err := fmt.Sscan(lines, side.lines); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

func addLine(h *renderv1.DiffHunk, line string) {
	ops := map[byte]renderv1.DiffLineOp{
		' ': renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT, '+': renderv1.DiffLineOp_DIFF_LINE_OP_ADD, '-': renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE,
	}
	if op, ok := ops[line[0]]; ok { // "\ No newline at end of file" is no line of the file
		h.Lines = append(h.Lines, &renderv1.DiffLine{Op: op, Text: strings.TrimSuffix(line[1:], "\r")})
	}
}
