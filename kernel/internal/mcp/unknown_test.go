package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentco/agent/kernel/internal/engine"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// Who calls a tool by a name that none has is told which was meant, or why that one is not offered.
func TestUnknownTool(t *testing.T) {
	k := start(t, nil, func(o *Options) {
		all := o.Engine.Operations
		o.Operations = func() []engine.Operation {
			return slices.DeleteFunc(all(), func(op engine.Operation) bool { return op.Name == "write" })
		}
		o.OutOfScope = func(op engine.Operation) string { return op.String() + " is for others" }
	})
	s := k.connect(t, nil, "")
	for _, test := range []struct{ name, want string }{
		{"fixture_ecko", `unknown tool "fixture_ecko" (did you mean "fixture_echo"?)`},
		{"echo", `unknown tool "echo" (did you mean "fixture_echo"?)`},
		{"fixture.echo", `unknown tool "fixture.echo" (did you mean "fixture_echo"?)`},
		{"fixture_flaky", `unknown tool "fixture_flaky" (did you mean "fixture_flaky_set"?)`},
		{"fixture_write", `unknown tool "fixture_write": fixture.write is for others`},
		{"moonshine", `unknown tool "moonshine"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: test.name})
			require.ErrorContains(t, err, test.want)
			require.Equal(t, test.name == "moonshine" || test.name == "fixture_write", !strings.Contains(err.Error(), "did you mean"))
		})
	}
}
