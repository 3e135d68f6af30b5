package paint

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTree paints every testdata/*.json (a RenderTree) in every format and compares with the files beside it.
func TestTree(t *testing.T) {
	formats := map[string]Painter{
		"plain.txt":    {},
		"terminal.txt": {Format: Terminal, Width: 60},
		"markdown.md":  {Format: Markdown},
	}
	inputs, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		text, err := os.ReadFile(input)
		require.NoError(t, err)
		tree := &renderv1.RenderTree{}
		require.NoError(t, protojson.Unmarshal(text, tree), input)
		for suffix, painter := range formats {
			golden := strings.TrimSuffix(input, "json") + suffix
			t.Run(filepath.Base(golden), func(t *testing.T) {
				got := painter.Tree(tree)
				if *update {
					require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				require.Equal(t, string(want), got)
			})
		}
	}
}

func TestTreeWithoutContent(t *testing.T) {
	tests := []struct {
		name string
		tree *renderv1.RenderTree
		want string
	}{
		{"no tree", nil, ""},
		{"no root", &renderv1.RenderTree{}, ""},
		{"unknown node", &renderv1.RenderTree{Root: &renderv1.RenderNode{}}, unknownNode + "\n"},
		{"empty group", &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Group{}}}, ""},
		{"empty table", &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{}}}, ""},
		{"node without its message", &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_List{}}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Painter{}.Tree(tt.tree))
			require.NotPanics(t, func() { Painter{Format: Markdown}.Tree(tt.tree) })
		})
	}
}

// A hostile tree must cost no more than its size.
func TestTreeDeep(t *testing.T) {
	node := textNode("leaf")
	for range 5000 {
		node = &renderv1.RenderNode{Node: &renderv1.RenderNode_Collapsible{Collapsible: &renderv1.CollapsibleNode{
			Summary: "s", Children: []*renderv1.RenderNode{node},
		}}}
	}
	require.Less(t, len(Painter{}.Tree(&renderv1.RenderTree{Root: node})), 1<<20)
}

func TestTableWithHugeCell(t *testing.T) {
	table := &renderv1.TableNode{Headers: []string{"a", "b"}, Rows: []*renderv1.TableRow{
		{Cells: []string{"x", strings.Repeat("words ", 20_000)}}, {Cells: []string{"only one"}},
	}}
	out := Painter{Width: 80}.Tree(&renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: table}}})
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, Width(strings.TrimSuffix(line, "\n")), 80)
	}
}

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"escape", "\x1b[2Jgone", "␛[2Jgone"},
		{"bell, backspace, delete", "a\a\b\x7f", "a␇␈␡"},
		{"CR LF", "a\r\nb\rc", "a\nb␍c"},
		{"C1", "\u009b31m", "<U+009B>31m"},
		{"bidi", "a\u202eb\u2066", "a<U+202E>b<U+2066>"},
		{"marks", "\u200ea\u061c", "<U+200E>a<U+061C>"},
		{"invisible", "a\u200bb\ufeffc\u2028d", "a<U+200B>b<U+FEFF>c<U+2028>d"},
		{"tags", "a\U000e0041", "a<U+E0041>"},
		{"emoji stay whole", "👩\u200d💻", "👩\u200d💻"},
		{"not UTF-8", "a\xffb\x9b", "a\uFFFDb\uFFFD"},
		{"other scripts", "日本 שלום é", "日本 שלום é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Text(tt.in)) })
	}
	require.Equal(t, "a↵b c␛", Line("a\nb\tc\x1b\n"))
}

func TestWidth(t *testing.T) {
	tests := []struct {
		s    string
		want int
	}{
		{"", 0}, {"abc", 3}, {"日本", 4}, {"e\u0301", 1}, {"👩\u200d💻", 2}, {"❤\ufe0f", 2}, {"ｱ", 1}, {"Ａ", 2}, {"│", 1},
	}
	for _, tt := range tests {
		t.Run(tt.s, func(t *testing.T) { require.Equal(t, tt.want, Width(tt.s)) })
	}
	require.Equal(t, "日…", Clip("日本語", 4))
	require.Equal(t, "abc", Clip("abc", 3))
}

// What a person may paste into a shell must be one command, whatever the provider put into it.
func TestActionCommandIsQuoted(t *testing.T) {
	args, err := structpb.NewStruct(map[string]any{"path": "a'; rm -rf ~ #\n"})
	require.NoError(t, err)
	require.Equal(t, `agent invoke 'x;y.$(id)' --args '{"path":"a'\''; rm -rf ~ #\n"}'`,
		actionCommand(&renderv1.ActionNode{Provider: "x;y", ToolName: "$(id)", Args: args}))
	require.Equal(t, "agent invoke fs.read_file", actionCommand(&renderv1.ActionNode{Provider: "fs", ToolName: "read_file"}))
}

func textNode(s string) *renderv1.RenderNode {
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{Text: &renderv1.TextNode{Content: s}}}
}

// What a table becomes is in proportion to what it is, whatever its cells: a provider has sent it.
func TestTablesDoNotGrow(t *testing.T) {
	rows := func(n int, cells ...string) *renderv1.TableNode {
		return &renderv1.TableNode{Headers: []string{"a", "b"}, Rows: slices.Repeat([]*renderv1.TableRow{{Cells: cells}}, n)}
	}
	long := rows(20_000, "", "b")
	long.Rows = append(long.Rows, &renderv1.TableRow{Cells: []string{strings.Repeat("x", 1<<20), "b"}})
	wide := rows(20_000)
	wide.Rows = append(wide.Rows, &renderv1.TableRow{Cells: slices.Repeat([]string{""}, 20_000)})
	for name, table := range map[string]*renderv1.TableNode{"one long cell": long, "one wide row": wide} {
		tree := &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: table}}}
		for _, p := range []Painter{{}, {Width: 80}, {Format: Markdown}} {
			require.Less(t, len(p.Tree(tree)), 16<<20, "%s %+v", name, p)
		}
	}
}
