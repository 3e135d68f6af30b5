package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/sdk/render"
)

// unified writes a diff the way diff -u does.
func unified(n render.Node) string {
	var b strings.Builder
	for _, h := range n.GetDiff().GetHunks() {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.GetOldStart(), h.GetOldLines(), h.GetNewStart(), h.GetNewLines())
		for _, l := range h.GetLines() {
			mark := map[renderv1.DiffLineOp]string{1: " ", 2: "+", 3: "-"}[l.GetOp()]
			b.WriteString(mark + l.GetText() + "\n")
		}
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing", "a\n", "a\n", ""},
		{"a new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"a file emptied", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"no final newline", "a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"CRLF", "a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a line inserted before one alike", "## U\n\n- a\n", "## U\n\n## V\n\n- a\n", "@@ -1,3 +1,5 @@\n ## U\n+\n+## V\n \n - a\n"},
		{"only the endings", "a\n", "a\r\n", "@@ -1,1 +1,1 @@\n-a\n+a\n"},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, unified(render.Diff(test.before, test.after))) })
	}
}

func TestEveryNodeTravels(t *testing.T) {
	bad := "a\xffb"
	tree := render.Tree(render.Group(
		render.Text(bad), nil, render.Code("go", bad), render.Link(bad, bad), render.Diff(bad, "c"),
		render.Table([]string{bad, "b"}, []string{bad}), render.List(render.Text(bad), nil), render.Ordered(render.Text("x")),
		render.Collapsible(bad, render.Styled(render.Error, bad)),
	))
	_, err := proto.Marshal(tree)
	require.NoError(t, err)
	children := tree.GetRoot().GetGroup().GetChildren()
	require.Len(t, children, 8)
	require.Equal(t, []string{"a\uFFFDb", ""}, children[4].GetTable().GetRows()[0].GetCells())
	require.True(t, children[6].GetList().GetOrdered())

	_, err = proto.Marshal(render.Tree(nil))
	require.NoError(t, err)
}

// What stays as it is leaves the room to what changes, however long its line is.
func TestDiffCutsLongContext(t *testing.T) {
	long := strings.Repeat("é", 70_000)
	hunks := render.Diff(long+"\nold\n", long+"\nnew\n").GetDiff().GetHunks()
	require.Len(t, hunks, 1)
	lines := hunks[0].GetLines()
	require.Len(t, lines, 3)
	require.Equal(t, long[:2048]+"…[137952 bytes]…", lines[0].GetText())
	require.Equal(t, "old", lines[1].GetText())
	require.Equal(t, "new", lines[2].GetText())
}
