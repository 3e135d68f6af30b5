package conformance

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/conformance/internal/subset"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// showTime is the kernel's own deadline.
const showTime = 5 * time.Second

func previewPure(l session) finding {
	var t tally
	for _, try := range l.tries {
		if absent(try.preview.err) {
			continue
		}
		t.count++
		for _, change := range try.changes {
			t.add("by the %s %s", try.preview.label, change)
		}
	}
	return t.of("previews")
}

func previewValidates(l session) finding {
	var t tally
	for _, try := range l.tries {
		if try.spoilt == nil || absent(try.preview.err) || try.spoilt.Fault == subset.Unknown || try.spoilt.Fault == subset.Number {
			continue
		}
		t.count++
		if details := errorsIn(try.preview.err); len(details) > 0 {
			if got := errorName(details[0]); got != "invalid_arguments" {
				t.add("the %s answers %s", try.preview.label, got)
			}
		} else if code := status.Code(try.preview.err); code != codes.InvalidArgument {
			t.add("the %s answers %s", try.preview.label, code)
		}
	}
	return t.of("previews of arguments that do not fit")
}

func renderResult(l session) finding {
	var t tally
	for _, try := range l.tries {
		if try.rendered == nil || absent(try.rendered.err) {
			continue
		}
		t.count++
		switch {
		case try.rendered.err != nil:
			t.add("%s: %v", try.rendered.label, try.rendered.err)
		case try.rendered.tree == nil:
			t.add("%s gives no tree", try.rendered.label)
		}
	}
	return t.of("renderings")
}

func renderGarbage(l session) finding {
	var t tally
	for _, shown := range l.renders {
		if absent(shown.err) {
			continue
		}
		t.count++
		if code := status.Code(shown.err); code == codes.Unavailable || code == codes.DeadlineExceeded {
			t.add("%s: %v", shown.label, shown.err)
		}
	}
	return t.of("renderings of what is no payload")
}

func renderTree(l session) finding {
	var t tally
	for _, shown := range l.shows() {
		if shown.tree == nil {
			continue
		}
		t.count++
		walkTree(&t, shown.label, shown.tree.GetRoot())
	}
	return t.of("trees")
}

func walkTree(t *tally, where string, node *renderv1.RenderNode) {
	var children []*renderv1.RenderNode
	switch kind := node.GetNode().(type) {
	case nil:
		t.add("%s has an empty node", where)
	case *renderv1.RenderNode_Text:
		if style := kind.Text.Style; style != nil && (*style < renderv1.TextStyle_TEXT_STYLE_NORMAL || *style > renderv1.TextStyle_TEXT_STYLE_SUCCESS) {
			t.add("%s has a text of style %s", where, *style)
		}
	case *renderv1.RenderNode_Diff:
		for _, hunk := range kind.Diff.GetHunks() {
			for _, line := range hunk.GetLines() {
				if line.GetOp() < renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT || line.GetOp() > renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE {
					t.add("%s has a diff line of %s", where, line.GetOp())
				}
			}
		}
	case *renderv1.RenderNode_List:
		children = kind.List.GetItems()
	case *renderv1.RenderNode_Group:
		children = kind.Group.GetChildren()
	case *renderv1.RenderNode_Collapsible:
		children = kind.Collapsible.GetChildren()
	}
	for _, child := range children {
		walkTree(t, where, child)
	}
}

func showQuick(l session) finding {
	var t tally
	for _, shown := range l.shows() {
		if absent(shown.err) {
			continue
		}
		t.count++
		if shown.took > showTime {
			t.add("%s took %s", shown.label, shown.took.Round(100*time.Millisecond))
		}
	}
	return t.of("previews and renderings")
}
