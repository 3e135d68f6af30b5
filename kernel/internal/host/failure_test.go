package host

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Only a block that is wrong is to be put right: what failed for want of something, such as a process, is tried again.
func TestMisconfigured(t *testing.T) {
	const invalid, failed = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED
	says := func(category toolv1.ToolErrorCategory, facts map[string]string) *toolv1.ToolError {
		return &toolv1.ToolError{Category: category, Details: details(facts, nil)}
	}
	tests := []struct {
		name string
		err  StartError
		want bool
	}{
		{"a block that cannot be read", StartError{Stage: StageConfig}, true},
		{"an argument", StartError{Stage: StageConfigure, Rejection: says(invalid, map[string]string{"field": "shell"})}, true},
		{"the whole block", StartError{Stage: StageConfigure, Rejection: says(invalid, nil)}, true},
		{"an argument that failed", StartError{Stage: StageConfigure, Rejection: says(failed, map[string]string{"field": "shell"})}, true},
		{"what it had to prepare", StartError{Stage: StageConfigure, Rejection: says(failed, nil)}, false},
		{"no answer", StartError{Stage: StageConfigure, Cause: errors.New("it was not configured")}, false},
		{"no process", StartError{Stage: StageLaunch}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.err.Misconfigured()) })
	}
}
