//go:build unix

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestRunIsCancelled(t *testing.T) {
	h, _ := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	arguments := map[string]any{"command": "echo begun; sleep 60 & wait"}
	result := h.Watch(ctx, h.Dir, "run", arguments, func(event *toolv1.ToolEvent) {
		if event.GetOutputChunk() != nil {
			cancel() // when it is seen to run
		}
	})
	require.Equal(t, "begun\n", result.Stdout)
	require.Equal(t, "the command was ended, with exit code 143; what it had printed is above", result.Report.GetMessage())
}

func TestRun(t *testing.T) {
	h, _ := start(t)
	result := h.Call(t.Context(), "run", map[string]any{"command": "cat poem.txt; echo no >&2; exit 3"})
	require.Equal(t, map[string]any{"exit_code": 3.0}, result.Result, "a command that fails is a result")
	require.Equal(t, "so much depends\nupon so little\n", result.Stdout)
	require.Equal(t, "no\n", result.Stderr)
}
