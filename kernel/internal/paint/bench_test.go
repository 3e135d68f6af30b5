package paint

import (
	"os"
	"strings"
	"testing"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
)

// BenchmarkTree paints a tree with all kinds of nodes.
func BenchmarkTree(b *testing.B) {
	text, err := os.ReadFile("testdata/every_node.json")
	require.NoError(b, err)
	tree := &renderv1.RenderTree{}
	require.NoError(b, protojson.Unmarshal(text, tree))
	for _, test := range []struct {
		name    string
		painter Painter
	}{{"plain", Painter{}}, {"terminal", Painter{Format: Terminal, Width: 60}}} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				test.painter.Tree(tree)
			}
		})
	}
}

// BenchmarkTable paints a table of ten thousand rows.
func BenchmarkTable(b *testing.B) {
	table := &renderv1.TableNode{Headers: []string{"name", "type", "size"}}
	for range 10_000 {
		table.Rows = append(table.Rows, &renderv1.TableRow{Cells: []string{"a file of some name.txt", "file", "1234"}})
	}
	tree := &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: table}}}
	for b.Loop() {
		Painter{}.Tree(tree)
	}
}

// BenchmarkOutput paints what a command prints: 32 KiB of lines with colours.
func BenchmarkOutput(b *testing.B) {
	chunk := []byte(strings.Repeat("\x1b[31mred\x1b[0m and a line of text that goes on for a while, as they do\n", 470))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		o := Output{Live: true, Color: true}
		o.Chunk(stdout, chunk)
		o.End()
	}
}
