package gate

import (
	"context"
	"testing"

	"github.com/agentco/agent/kernel/internal/policy"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func callOf(t *testing.T, operation string, args map[string]any) Call {
	t.Helper()
	s, err := structpb.NewStruct(args)
	require.NoError(t, err)
	return Call{Provider: "p", Operation: operation, Category: commonv1.Category_CATEGORY_TOOL, Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE, Arguments: s}
}

// K29: an approval is about what was shown. That of a session covers the same operation with the same beginning of a
// command, or the same folder, and nothing else.
func TestGrants(t *testing.T) {
	test := map[string]any{"command": "go test ./a"}
	edit := map[string]any{"path": "docs/a.md", "content": "x"}
	tests := []struct {
		name      string
		granted   map[string]any
		shown     string
		operation string
		args      map[string]any
		want      bool
	}{
		{"the same again", test, "p.op go test *", "op", test, true},
		{"begins alike", test, "p.op go test *", "op", map[string]any{"command": "go test ./b -v"}, true},
		{"another begins alike", test, "p.op go test *", "op", map[string]any{"command": "go testx"}, false},
		{"another beside it", test, "p.op go test *", "op", map[string]any{"command": "go test; rm -rf /"}, false},
		{"into a file", test, "p.op go test *", "op", map[string]any{"command": "go test > x"}, false},
		{"elsewhere", test, "p.op go test *", "op", map[string]any{"command": "go test", "cwd": "/tmp"}, false},
		{"in the background", test, "p.op go test *", "op", map[string]any{"command": "go test", "background": true}, false},
		{"another operation", test, "p.op go test *", "other", test, false},
		{"from there, then from here", map[string]any{"command": "make", "cwd": "a"}, "p.op make, cwd=a", "op", map[string]any{"command": "make"}, false},
		{"from there again", map[string]any{"command": "make", "cwd": "a"}, "p.op make, cwd=a", "op", map[string]any{"command": "make", "cwd": "./b/../a"}, true},
		{"another program", map[string]any{"command": "rm a"}, "p.op rm a", "op", map[string]any{"command": "rm b"}, false},
		{"same folder", edit, "p.op path=docs/*", "op", map[string]any{"path": "docs/b.md"}, true},
		{"folder below", edit, "p.op path=docs/*", "op", map[string]any{"path": "docs/b/c.md"}, false},
		{"out of the folder", edit, "p.op path=docs/*", "op", map[string]any{"path": "docs/../secret"}, false},
		{"another folder", edit, "p.op path=docs/*", "op", map[string]any{"path": "src/b.md"}, false},
		{"one path more", edit, "p.op path=docs/*", "op", map[string]any{"path": "docs/b.md", "destination": "/etc/x"}, false},
		{"a file beside the rules", map[string]any{"path": "a.md"}, "p.op path=*", "op", map[string]any{"path": "b.md"}, true},
		{"the rules themselves", map[string]any{"path": "a.md"}, "p.op path=*", "op", map[string]any{"path": "docs/../agent.hcl"}, false},
		{"the folder that the rules are in", map[string]any{"path": "a.md"}, "p.op path=*", "op", map[string]any{"path": "."}, false},
		{"no path", edit, "p.op path=docs/*", "op", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			g := &Gate{Place: policy.Place{Root: "/p", Dir: "/p"}, Approver: ApproverFunc(func(_ context.Context, questions []Question) ([]Answer, error) {
				if asked++; asked > 1 {
					return []Answer{{By: "person"}}, nil
				}
				require.Equal(t, tt.shown, questions[0].Offer.String())
				return []Answer{{Approved: true, Session: true, By: "person"}}, nil
			})}
			require.True(t, g.Review([]Call{callOf(t, "op", tt.granted)}).Ask(t.Context())[0].Allowed)
			v := g.Review([]Call{callOf(t, tt.operation, tt.args)}).Ask(t.Context())[0]
			require.Equal(t, tt.want, v.Allowed)
			require.Equal(t, !tt.want, asked == 2)
			if tt.want {
				require.Equal(t, "granted for this session: "+tt.shown, v.By)
			}
		})
	}
}

func TestNoGrant(t *testing.T) {
	approve := func(a Answer) Approver {
		return ApproverFunc(func(_ context.Context, questions []Question) ([]Answer, error) {
			answers := make([]Answer, len(questions))
			for i := range answers {
				answers[i] = a
			}
			return answers, nil
		})
	}
	edit := callOf(t, "op", map[string]any{"path": "docs/a"})
	place := policy.Place{Root: "/p", Dir: "/p"}
	for name, a := range map[string]Answer{"no session": {Approved: true}, "a session without a yes": {Session: true}} {
		t.Run(name, func(t *testing.T) {
			g := &Gate{Place: place, Approver: approve(a)}
			g.Review([]Call{edit}).Ask(t.Context())
			require.Equal(t, 1, g.Review([]Call{edit}).Open())
		})
	}
	t.Run("nothing to offer", func(t *testing.T) {
		g := &Gate{Place: place, Approver: approve(Answer{Approved: true, Session: true})}
		any := callOf(t, "op", map[string]any{"text": "x"})
		g.Review([]Call{any}).Ask(t.Context())
		require.Equal(t, 1, g.Review([]Call{any}).Open())
	})
	t.Run("a command of the same name", func(t *testing.T) {
		g := &Gate{Place: place, Approver: approve(Answer{Approved: true, Session: true})}
		g.Review([]Call{edit}).Ask(t.Context())
		command := edit
		command.Category = commonv1.Category_CATEGORY_SLASHCOMMAND
		require.Equal(t, 1, g.Review([]Call{command}).Open())
	})
	t.Run("a deny stands", func(t *testing.T) { // K28
		g := &Gate{Place: place, Approver: approve(Answer{Approved: true, Session: true})}
		g.Review([]Call{edit}).Ask(t.Context())
		rules, err := policy.New([]policy.Rule{{Name: "no", Match: policy.Match{Provider: "p"}, Action: policy.Deny}})
		require.NoError(t, err)
		g.Policy = rules
		v, decided := g.Review([]Call{edit}).Decided(0)
		require.True(t, decided)
		require.False(t, v.Allowed)
	})
	t.Run("another session", func(t *testing.T) {
		g := &Gate{Place: place, Approver: approve(Answer{Approved: true, Session: true})}
		g.Review([]Call{edit}).Ask(t.Context())
		require.Equal(t, 1, (&Gate{Place: place}).Review([]Call{edit}).Open())
	})
}
