package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestExitCode(t *testing.T) {
	call := func(s engine.Status) error { return &callError{outcome: engine.Outcome{Status: s}} }
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, 0},
		{"completed", call(engine.Completed), 0},
		{"failed", call(engine.Failed), 1},
		{"crashed", call(engine.Crashed), 1},
		{"arguments refused, by the kernel or the provider", &callError{outcome: engine.Outcome{Status: engine.Failed,
			Error: &toolv1.ToolError{Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS}}}, 2},
		{"denied", call(engine.Denied), 3},
		{"cancelled", call(engine.Cancelled), 130},
		{"interrupted before the call", fmt.Errorf("start: %w", context.Canceled), 130},
		{"command line", usagef("no such flag"), 2},
		{"no project", &config.NoProjectError{}, 2},
		{"file", config.Diagnostics{{Summary: "x"}}, 2},
		{"file, among others", errors.Join(errors.New("x"), config.Diagnostics{{Summary: "x"}}), 2},
		{"unknown name", &engine.LookupError{}, 2},
		{"provider that does not start", &engine.StartError{Cause: errors.New("no such file")}, 1},
		{"provider block refused", &engine.StartError{Cause: errors.New("x"), Rejection: &toolv1.ToolError{}}, 2},
		{"provider that could not prepare", &engine.StartError{Cause: errors.New("x"), Rejection: &toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED}}, 1},
		{"closed stdout", errNobodyReads, 1},
		{"anything else", errors.New("x"), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, exitCode(tt.err)) })
	}
}
