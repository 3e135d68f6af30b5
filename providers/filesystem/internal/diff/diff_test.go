package diff

import (
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/testing/protocmp"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

func TestUnified(t *testing.T) {
	for _, tt := range []struct{ name, path, before, after, want string }{
		{"equal", "f", "a\n", "a\n", ""},
		{"a line", "f", "a\nb\nc\n", "a\nB\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"a new file", "/x/f", "", "a\n", "--- /x/f\n+++ /x/f\n@@ -0,0 +1 @@\n+a\n"},
		{"newline at the end", "f", "a", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"one more of the same", "f", "a\na\n", "a\na\na\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n a\n+a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, clipped := Unified(tt.path, tt.before, tt.after, 1<<10)
			require.Equal(t, tt.want, got)
			require.False(t, clipped)
		})
	}
}

func TestUnifiedIsBounded(t *testing.T) {
	got, clipped := Unified("f", "", strings.Repeat("line\n", 1000), 100)
	require.True(t, clipped)
	require.LessOrEqual(t, len(got), 100)
	require.True(t, strings.HasSuffix(got, "+line\n"))
	node := Node(got).GetDiff().GetHunks()
	require.Len(t, node, 1)
	require.EqualValues(t, len(node[0].GetLines()), node[0].GetNewLines())

	long := strings.Repeat("something or other\n", 200_000)
	got, _ = Unified("f", "x\n"+long, long+"y\n", 1<<30)
	require.Contains(t, got, "-x\n")
}

func TestNode(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\nhh\n-- i\n\nk"
	after := strings.NewReplacer("b", "B", "-- i\n", "").Replace(before)
	unified, _ := Unified("f", before, after, 1<<10)
	hunks := Node(unified).GetDiff().GetHunks()
	require.Len(t, hunks, 2)
	want := &renderv1.DiffHunk{OldStart: 7, OldLines: 6, NewStart: 7, NewLines: 5}
	for _, line := range []string{" g", " h", " hh", "--- i", " ", " k"} {
		op := renderv1.DiffLineOp_DIFF_LINE_OP_CONTEXT
		if line[0] == '-' {
			op = renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE
		}
		want.Lines = append(want.Lines, &renderv1.DiffLine{Op: op, Text: line[1:]})
	}
	require.Empty(t, cmp.Diff(want, hunks[1], protocmp.Transform()))
}

// Applying the diff to the old text gives the new one.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("", "x")
	f.Add("a\n\n\na", "a\n\na")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.ContainsAny(before+after, "\r\\") {
			return // ApplyUnified has its own mind about these
		}
		got, err := udiff.Apply(before, edits(before, after))
		require.NoError(t, err)
		require.Equal(t, after, got)
		unified, _ := Unified("f", before, after, 1<<20)
		require.Equal(t, before != after, unified != "")
		require.NotNil(t, Node(unified))
	})
}
