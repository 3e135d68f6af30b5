package diff

import (
	"fmt"
	"strings"
	"testing"

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
		{"a name of two lines", "f\ng", "", "a\n", "--- \"a/f\\ng\"\n+++ \"b/f\\ng\"\n@@ -0,0 +1 @@\n+a\n"},
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
	require.EqualValues(t, 1000, node[0].GetNewLines())
}

func TestUnifiedOfLargeChange(t *testing.T) {
	var before, after strings.Builder
	for i := range 20_000 {
		fmt.Fprintln(&before, "old", i)
		fmt.Fprintln(&after, "new", i)
	}
	got, clipped := Unified("f", "same\n"+before.String()+"end", "same\n"+after.String()+"end", 1<<30)
	require.False(t, clipped)
	require.Equal(t, "same\n"+after.String()+"end", patch(t, "same\n"+before.String()+"end", got))

	got, clipped = Unified("f", before.String(), after.String(), 1000)
	require.True(t, clipped)
	require.LessOrEqual(t, len(got), 1000)
	require.Contains(t, got, "@@ -1,20000 +1,20000 @@\n-old 0\n")

	got, _ = Unified("f", "", strings.Repeat("x", Thorough+1), 1<<30)
	require.Contains(t, got, "@@ -0,0 +1,1 @@\n+x")
	require.True(t, strings.HasSuffix(got, "x\n\\ No newline at end of file\n"))
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
		if strings.Contains(before+after, "\r") {
			return // nodes do not show them
		}
		unified, clipped := Unified("f", before, after, 1<<20)
		require.False(t, clipped)
		if before == after {
			require.Empty(t, unified)
			return
		}
		require.Equal(t, strings.TrimSuffix(after, "\n"), patch(t, before, unified))
		require.NotNil(t, Node(unified))
	})
}

// patch applies the nodes of a diff to a text; the last line end is left out.
func patch(t *testing.T, before, unified string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(before, "\n"), "\n")
	if before == "" {
		lines = nil
	}
	var out []string
	at := 0
	for _, hunk := range Node(unified).GetDiff().GetHunks() {
		start := int(hunk.GetOldStart()) - 1
		if hunk.GetOldLines() == 0 {
			start++
		}
		out = append(out, lines[at:start]...)
		at = start
		for _, line := range hunk.GetLines() {
			if line.GetOp() != renderv1.DiffLineOp_DIFF_LINE_OP_ADD {
				require.Equal(t, lines[at], line.GetText())
				at++
			}
			if line.GetOp() != renderv1.DiffLineOp_DIFF_LINE_OP_REMOVE {
				out = append(out, line.GetText())
			}
		}
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}
