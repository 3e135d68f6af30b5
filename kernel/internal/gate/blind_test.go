package gate

import (
	"testing"

	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	"github.com/stretchr/testify/require"
)

// K29: an approval that was given before is for exactly that call.
func TestApproveThese(t *testing.T) {
	g := &Gate{Preview: nil}
	first := callOf(t, "op", map[string]any{"path": "a"})
	first.ID = "1"
	item := g.Review([]Call{first}).Ask(t.Context())[0].Item
	again := func(change func(*Call)) Call {
		c := first
		change(&c)
		return c
	}
	tests := []struct {
		name string
		call Call
		want bool
	}{
		{"the same", first, true},
		{"another call", again(func(c *Call) { c.ID = "2" }), false},
		{"other arguments", again(func(c *Call) { c.Arguments = arguments(t, map[string]any{"path": "b"}) }), false},
		{"another operation", again(func(c *Call) { c.Operation = "other" }), false},
		{"another provider", again(func(c *Call) { c.Provider = "q" }), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &Gate{Approver: ApproveThese("the plan", []*planv1.PlanItem{item})}
			v := g.Review([]Call{tt.call}).Ask(t.Context())[0]
			require.Equal(t, tt.want, v.Allowed)
			require.Equal(t, "the plan", v.By)
			require.Nil(t, v.Item.GetPreview(), "nobody looks at it")
			require.NotNil(t, g.Explain(t.Context(), tt.call).Preview, "unless it is asked for")
		})
	}
}
