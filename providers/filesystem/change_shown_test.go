package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// previewed is a preview as text: lines of a diff behind their sign, what stands
// beside them as it is.
func (w world) previewed(operation string, a args) string {
	w.t.Helper()
	plan, err := w.Preview(w.t.Context(), operation, a)
	require.NoError(w.t, err)
	return flat(plan.GetRoot())
}

func flat(node *renderv1.RenderNode) string {
	var b strings.Builder
	for _, child := range node.GetGroup().GetChildren() {
		b.WriteString(flat(child))
	}
	for _, h := range node.GetDiff().GetHunks() {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.GetOldStart(), h.GetOldLines(), h.GetNewStart(), h.GetNewLines())
		for _, l := range h.GetLines() {
			b.WriteString(map[renderv1.DiffLineOp]string{1: " ", 2: "+", 3: "-"}[l.GetOp()] + l.GetText() + "\n")
		}
	}
	if s := node.GetText().GetContent(); s != "" {
		b.WriteString(s + "\n")
	}
	return b.String()
}

// Whoever approves a change has to see it, however much else is in the file.
func TestPreviewShowsTheChange(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	minified := strings.Repeat("var a=1;function f(){return a};", 3_000)
	lines := strings.Repeat("an old line\n", 30_000)
	wide := strings.Repeat("é€😀", 20_000)
	hunks := func(word string) string {
		return strings.Repeat("value = "+word+"\n"+strings.Repeat("between\n", 20), 5_000)
	}
	for _, tt := range []struct {
		name, before, after string
		want                []string
	}{
		{"beside a long line", "a\n" + long + "\nfunction check(){ return verify(); }\n", "a\n" + long + "\nfunction check(){ return true; }\n", []string{
			"@@ -3,1 +3,1 @@\n-function check(){ return verify(); }\n+function check(){ return true; }\n2 of 2 changed lines shown, without the lines around them.\n",
		}},
		{"at the start of a long line", "old" + long, "new" + long, []string{"\n-oldxxx", "\n+newxxx", "x…[68 KiB]…\n", "2 of 2 changed lines shown (2 cut), 136 KiB hidden."}},
		{"in the middle of one", long + "old" + long, long + "new" + long, []string{"\n-…[68 KiB]…x", "xoldx", "\n+…[68 KiB]…x", "xnewx", "x…[68 KiB]…\n"}},
		{"at the end of one", long + "old\n", long + "new\n", []string{"\n-…[68 KiB]…x", "xold\n", "xnew\n"}},
		{"a file of one line", minified + "check(1);" + minified, minified + "check(2);" + minified, []string{"check(1);var", "check(2);var"}},
		{"a new file of one line", "", "begin" + long + "end", []string{"@@ -0,0 +1,1 @@\n+beginx", "…[", "xend\n1 of 1 changed lines shown (1 cut), "}},
		{"many lines", lines, strings.ReplaceAll(lines, "old", "new"), []string{"@@ -1,30000 +1,30000 @@\n-an old", "\n+an new", " of 60000 changed lines shown, ", " KiB hidden.\n"}},
		{"many hunks", hunks("old"), hunks("new"), []string{"@@ -1,1 +1,1 @@\n-value = old\n+value = new\n@@ -22,1 +22,1 @@\n", " of 10000 changed lines shown"}},
		{"far from each other", "old\n" + lines + "old\n", "new\n" + lines + "new\n", []string{"@@ -1,1 +1,1 @@\n-old\n+new\n", "@@ -30002,1 +30002,1 @@\n-old\n+new\n"}},
		{"CR LF", long + "\r\nold\r\n", long + "\r\nnew\r\n", []string{"@@ -2,1 +2,1 @@\n-old\n+new\n"}},
		{"only line ends", "a\r\n" + long + "\r\n", "a\n" + long + "\n", []string{"-a\r\n", "+a\n"}},
		{"a line end at the end", long + "\r\nb", long + "\nb\n", []string{"-b\n+b\n"}},
		{"characters of several bytes", wide + "old" + wide, wide + "new" + wide, []string{"old", "new"}},
		{"a mark at the start", "\xef\xbb\xbfsame\n", "same\n", []string{"Only the form of the text changes: utf-8-bom with line ends lf becomes utf-8 with line ends lf."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, args{"require_read_before_write": false})
			if tt.before != "" {
				w.put("root/f", tt.before)
			}
			got := w.previewed("write_file", args{"path": "f", "content": tt.after})
			for _, want := range tt.want {
				require.Contains(t, got, want)
			}
			require.True(t, utf8.ValidString(got))
			require.NotContains(t, got, "\uFFFD")
			require.Less(t, len(got), 80<<10)
		})
	}
}

func TestPreviewOfManyFilesShowsEach(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	files := []any{args{"path": "large", "content": strings.Repeat("many lines\n", 50_000)}}
	for i := range 50 {
		name := fmt.Sprintf("f%d", i)
		w.put("root/"+name, strings.Repeat("x", 70_000)+"\nold\n")
		files = append(files, args{"path": name, "edits": []any{args{"old_string": "old", "new_string": "new " + name}}})
	}
	got := w.previewed("apply_edits", args{"files": files})
	require.Less(t, len(got), 80<<10)
	require.Greater(t, strings.Count(got, "+many lines\n"), 1000, "what the others leave is used")
	for i := range 50 {
		require.Contains(t, got, fmt.Sprintf("-old\n+new f%d\n", i))
	}
	diffs := 0
	for _, f := range w.must("apply_edits", args{"files": files})["applied"].([]any) {
		diffs += len(f.(map[string]any)["diff"].(string))
	}
	require.LessOrEqual(t, diffs, 64<<10)
}

// The sign stands in one of the two states only: a line that is marked as changed
// has to show it, whatever the sizes.
func TestPreviewAlwaysShowsWhatDiffers(t *testing.T) {
	const sign = "Ж"
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-c{} ]{0,4}`),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"x", "é", "😀", "ab "}).Draw(t, "of"), rapid.SampledFrom([]int{1, 40, 300, 2_000, 70_000}).Draw(t, "times"))
		}),
		rapid.Map(rapid.SampledFrom([]int{1, 9, 100, 5_000, 100_000}), func(n int) string { return strings.Repeat("line\n", n) }),
		rapid.Just("\n"), rapid.Just("\r\n"),
	)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces")
		var with, without strings.Builder
		signs := rapid.IntRange(1, 3).Draw(t, "signs")
		for i := range signs + 1 {
			for _, p := range pieces[len(pieces)*i/(signs+1) : len(pieces)*(i+1)/(signs+1)] {
				with.WriteString(p)
				without.WriteString(p)
			}
			if i == signs {
				break
			}
			with.WriteString(sign)
			if rapid.Bool().Draw(t, "replaces") {
				without.WriteString(rapid.SampledFrom([]string{"x", "é", "\n", "a line\n"}).Draw(t, "by"))
			}
		}
		encoding := rapid.SampledFrom([]string{"utf-8", "bom", "utf-16le", "utf-16be"}).Draw(t, "encoding")
		before, after, op := encode(without.String(), encoding), encode(with.String(), encoding), "+"
		if rapid.Bool().Draw(t, "goes") {
			before, after, op = after, before, "-"
		}
		limit := rapid.SampledFrom([]int{256, 1000, 64 << 10, 1 << 20}).Draw(t, "limit")
		c := &change{w: &workspace{maxResult: limit}, target: target{name: "f"}, before: state{exists: true, bytes: before}, after: after, size: int64(len(after))}
		for _, longest := range []int{longestPlanned, limit} {
			unified, _ := c.unifiedWithin(limit, longest)
			require.LessOrEqual(t, len(unified), max(limit, 400))
			shown := false
			for _, l := range strings.Split(unified, "\n") {
				shown = shown || strings.HasPrefix(l, op) && strings.Contains(l, sign)
			}
			require.True(t, shown, "%s", unified)
			require.True(t, utf8.ValidString(unified))
		}
	})
}
