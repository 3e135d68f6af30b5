package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestOrder(t *testing.T) {
	keyed := &toolv1.ConcurrencySpec{Safe: true, KeyFields: []string{"path", "to"}}
	step := func(operation string, kind toolv1.ToolKind, c *toolv1.ConcurrencySpec, args map[string]any) Step {
		s, err := structpb.NewStruct(args)
		require.NoError(t, err)
		return Step{Provider: "p", Operation: operation, Kind: kind, Concurrency: c, Arguments: s}
	}
	read := step("read", toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, nil, nil)
	run := step("run", toolv1.ToolKind_TOOL_KIND_RESOURCE, &toolv1.ConcurrencySpec{Safe: true}, nil)
	ask := step("ask", toolv1.ToolKind_TOOL_KIND_INTERACTIVE, nil, nil)
	write := func(path, to string) Step {
		return step("write", toolv1.ToolKind_TOOL_KIND_RESOURCE, keyed, map[string]any{"path": path, "to": to})
	}
	elsewhere := write("a", "b")
	elsewhere.Provider = "q"
	free := run
	free.Explicit = true
	third := run
	third.Explicit, third.After = true, []int{1}
	tests := []struct {
		name  string
		steps []Step
		want  [][]int
	}{
		{"reading beside reading", []Step{read, read, read}, [][]int{nil, nil, nil}},
		{"a change waits for what reads, and the other way round", []Step{read, run, read, run}, [][]int{nil, {0}, {1}, {0, 1, 2}}},
		{"changes that nothing is known of", []Step{run, run, ask}, [][]int{nil, {0}, {0, 1}}},
		{"files that have nothing to do with each other", []Step{write("a", "b"), write("c", "d/e"), write("docs/f", "x")}, [][]int{nil, nil, nil}},
		{"one file, written in another way", []Step{write("a", "b"), write("./x/../A", "c")}, [][]int{nil, {0}}},
		{"the target of one is the source of the other", []Step{write("a", "b"), write("b", "c")}, [][]int{nil, {0}}},
		{"a file and its folder", []Step{write("a/b", "x"), write("a", "y")}, [][]int{nil, {0}}},
		{"a name that begins alike", []Step{write("a", "x"), write("ab", "y")}, [][]int{nil, nil}},
		{"absolute and relative", []Step{write("/p/a", "/x"), write("b", "c"), write("d", "a")}, [][]int{nil, nil, {0}}},
		{"the folder itself", []Step{write(".", "/x"), write("c", "d")}, [][]int{nil, {0}}},
		{"the root", []Step{write("/", "/x"), write("c", "d")}, [][]int{nil, {0}}},
		{"without a value", []Step{write("a", ""), write("c", "d")}, [][]int{nil, {0}}},
		{"the same operation of another provider", []Step{write("a", "b"), elsewhere}, [][]int{nil, {0}}},
		{"as it says itself", []Step{run, run, free, third}, [][]int{nil, {0}, nil, {1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Order("/p", tt.steps)) })
	}
}
