package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/session/history"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// What the status says is not said again.
func TestOfKind(t *testing.T) {
	for _, test := range []struct {
		name, status string
		category     toolv1.ToolErrorCategory
		want         string
	}{
		{"cancelled", "cancelled", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, "why"},
		{"failed", "failed", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "not_found: why"},
		{"too late", "cancelled", toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, "timeout: why"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, ofKind(&history.Call{Status: test.status, Error: &toolv1.ToolError{Category: test.category, Message: "why"}}))
		})
	}
}
