package host

import (
	"testing"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/stretchr/testify/require"
)

// What comes along with a result is a rendering, or is as if it had not come.
func TestRenderingSentAlong(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	for _, test := range []struct {
		name, how, want string
		unasked         bool
	}{
		{"a tree", "a tree", "sent along: a tree", false},
		{"not asked for", "a tree", "", true},
		{"nothing", "", "", false},
		{"too long", "too long", "", false},
		{"an empty tree", "empty", "", false},
		{"no tree", "no tree", "", false},
		{"two trees", "two", "", false},
		{"more than gRPC takes", "huge", "", false}, // the last: gRPC may give up the connection for it, after the result
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "along:" + test.how
			if test.how == "" {
				text = "alone"
			}
			call := callOf(t, p, "echo", map[string]any{"text": text})
			call.Render = !test.unasked
			reply := p.Invoke(t.Context(), call, hosttest.NewRecorder().Show)
			require.Equal(t, Completed, reply.Ending, reply.Error)
			require.Equal(t, text, reply.Payload.AsMap()["text"])
			require.Equal(t, test.want, reply.Rendering.GetRoot().GetText().GetContent())
			require.Equal(t, test.want == "", reply.Rendering == nil)
		})
	}
}

// What is kept is fetched once; what is not there is an error.
func TestRenderingKept(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	for _, test := range []struct {
		name, how, want string
		unasked, none   bool
	}{
		{name: "a tree", how: "kept", want: "kept"},
		{name: "one that is gone", how: "kept, and gone"},
		{name: "not asked for", how: "kept", unasked: true, none: true},
		{name: "nothing", how: "a tree", none: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			call := callOf(t, p, "echo", map[string]any{"text": "along:" + test.how})
			call.Render = !test.unasked
			reply := p.Invoke(t.Context(), call, hosttest.NewRecorder().Show)
			require.Equal(t, Completed, reply.Ending, reply.Error)
			require.Equal(t, test.none, reply.Kept == nil)
			if test.none {
				return
			}
			if test.want != "" {
				tree, err := reply.Kept.Fetch(t.Context())
				require.NoError(t, err)
				require.Equal(t, test.want, tree.GetRoot().GetText().GetContent())
			}
			_, err := reply.Kept.Fetch(t.Context())
			require.ErrorContains(t, err, "not kept")
		})
	}
}
