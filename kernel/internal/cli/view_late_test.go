package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// A call that floods a terminal is not shown to its end once it was cancelled, but what it says to that is; a file gets all.
func TestOutputOfACancelledCall(t *testing.T) {
	const line = "0123456789 0123456789 0123456789\n"
	for _, tt := range []struct {
		name     string
		terminal bool
		chunks   []string
		all      bool
		want     string // at the end
	}{
		{"a word", true, []string{"stopping\n", "stopped\n"}, true, "stopped\n"},
		{"a flood", true, slicesOf(strings.Repeat(line, 100), 100), false, line},
		{"in one piece", true, slicesOf(strings.Repeat(line, 10_000), 2), false, line},
		{"without an end of a line", true, slicesOf(strings.Repeat("x", 30_000), 50), false, "xxx\n"},
		{"into a file", false, slicesOf(strings.Repeat(line, 100), 100), true, line},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, said := onFiles(t)
			if tt.terminal { // what of a terminal counts here: both streams are the same
				a.display.output[1] = a.display.output[0]
			}
			ctx, cancel := context.WithCancel(t.Context())
			a.ctx = ctx
			v := newHumanView(a, nil, engine.Operation{}, false)
			show := func(text string) {
				chunk := &toolv1.ToolEvent_OutputChunk{Stream: toolv1.OutputStream_OUTPUT_STREAM_STDOUT, Data: []byte(text)}
				v.event(&toolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: chunk}})
				for i := range chunk.Data { // whoever has shown it may use it again
					chunk.Data[i] = '!'
				}
			}
			show("before\n")
			cancel()
			all := "before\n"
			for _, text := range tt.chunks {
				show(text)
				all += text
			}
			v.outcome(engine.Outcome{Status: engine.Cancelled, Error: &toolv1.ToolError{Message: "over"}})
			out, err := os.ReadFile(a.display.out.file.Name())
			require.NoError(t, err)
			shown := string(out)
			require.True(t, strings.HasSuffix(shown, tt.want))
			require.NotContains(t, shown, "!")
			require.True(t, strings.HasSuffix(said(), "cancelled: over\n"))
			if tt.all {
				require.Equal(t, all, shown)
				require.NotContains(t, said(), "left out")
				return
			}
			require.LessOrEqual(t, len(shown), shownAfterCancel+shownAtTheEnd+len("before\n\n\n"))
			ends := strings.Count(shown, "\n") - strings.Count(all, "\n")
			if strings.HasSuffix(all, "\n") {
				require.Zero(t, len(all)-len(shown)-len(line)*-ends, "whole lines are left out")
			}
			require.Contains(t, said(), "left out: ")
			require.Contains(t, said(), " of output, which agent session replay has\n")
		})
	}
}

func slicesOf(text string, n int) (all []string) {
	for range n {
		all = append(all, text)
	}
	return all
}
