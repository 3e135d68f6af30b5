package gate

import (
	"context"
	"testing"

	"github.com/agentco/agent/kernel/internal/policy"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func arguments(t *testing.T, args map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(args)
	require.NoError(t, err)
	return s
}

// K29: what is approved is what was shown, so arguments that were changed at the question go the way of all arguments,
// and are shown and asked about again.
func TestRevisedArguments(t *testing.T) {
	rules, err := policy.New([]policy.Rule{
		{Name: "secret", Match: policy.Match{Arguments: map[string]string{"path": "secret/*"}}, Action: policy.Deny},
		{Name: "docs", Match: policy.Match{Arguments: map[string]string{"path": "docs/*"}}, Action: policy.Allow},
	})
	require.NoError(t, err)
	tests := []struct {
		name    string
		path    string
		problem string
		shown   string // in what was made of the question
	}{
		{"others", "b", "", "b"},
		{"what a policy allows is asked about all the same", "docs/b", "", "docs/b"},
		{"what a policy denies", "secret/b", `policy "secret" denies it`, "a"},
		{"what does not fit", "", "a path is needed", "a"},
		{"what the provider refuses", "full", "no room", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var first, second Question
			asked := 0
			g := &Gate{
				Policy: rules, Place: policy.Place{Root: "/p", Dir: "/p"},
				Check: func(c Call) *toolv1.ToolError {
					if c.Arguments.GetFields()["path"].GetStringValue() == "" {
						return &toolv1.ToolError{Message: "a path is needed"}
					}
					return nil
				},
				Preview: func(_ context.Context, c Call) (*renderv1.RenderTree, error) {
					if c.Arguments.GetFields()["path"].GetStringValue() == "full" {
						return nil, &RefusalError{&toolv1.ToolError{Message: "no room"}}
					}
					return Pretty(c.Arguments), nil
				},
				Approver: ApproverFunc(func(_ context.Context, questions []Question) ([]Answer, error) {
					asked++
					first = questions[0]
					second = first.Revise(t.Context(), arguments(t, map[string]any{"path": tt.path}))
					return []Answer{{Approved: true, By: "person", Revised: &second}, {Approved: true, By: "person"}}, nil
				}),
			}
			verdicts := g.Review([]Call{callOf(t, "op", map[string]any{"path": "a"}), callOf(t, "op", map[string]any{"path": "c"})}).Ask(t.Context())
			require.Equal(t, 1, asked)
			require.Equal(t, first.GetId(), second.GetId(), "it is the same item")
			require.Equal(t, tt.shown, second.GetInput().AsMap()["path"])
			require.Contains(t, second.GetPreview().GetRoot().GetCodeBlock().GetContent(), `"`+tt.shown+`"`)
			require.True(t, verdicts[0].Allowed)
			require.True(t, verdicts[1].Allowed)
			require.Nil(t, verdicts[1].Arguments)
			require.Equal(t, tt.shown, verdicts[0].Item.GetInput().AsMap()["path"])
			if tt.problem != "" {
				require.Contains(t, second.Problem, tt.problem)
				require.Nil(t, verdicts[0].Arguments, "the call is as it was")
				return
			}
			require.Empty(t, second.Problem)
			require.Equal(t, tt.path, verdicts[0].Arguments.AsMap()["path"])
		})
	}
}

func TestRevisionIsNoApproval(t *testing.T) {
	edit := callOf(t, "op", map[string]any{"path": "a"})
	other := arguments(t, map[string]any{"path": "b"})
	t.Run("without a yes", func(t *testing.T) {
		g := &Gate{Approver: ApproverFunc(func(_ context.Context, q []Question) ([]Answer, error) {
			revised := q[0].Revise(t.Context(), other)
			return []Answer{{Revised: &revised}}, nil
		})}
		v := g.Review([]Call{edit}).Ask(t.Context())[0]
		require.False(t, v.Allowed)
		require.Equal(t, "b", v.Item.GetInput().AsMap()["path"], "what was refused is what was shown last")
	})
	t.Run("that is not answered with", func(t *testing.T) {
		g := &Gate{Approver: ApproverFunc(func(_ context.Context, q []Question) ([]Answer, error) {
			q[0].Revise(t.Context(), other)
			return []Answer{{Approved: true}}, nil
		})}
		v := g.Review([]Call{edit}).Ask(t.Context())[0]
		require.True(t, v.Allowed)
		require.Nil(t, v.Arguments)
	})
	t.Run("of another call", func(t *testing.T) {
		one, two := edit, callOf(t, "op", map[string]any{"path": "c"})
		one.ID, two.ID = "1", "2"
		g := &Gate{Approver: ApproverFunc(func(_ context.Context, q []Question) ([]Answer, error) {
			revised := q[1].Revise(t.Context(), other)
			return []Answer{{Approved: true, Revised: &revised}, {Approved: true, Revised: &Question{}}}, nil
		})}
		for _, v := range g.Review([]Call{one, two}).Ask(t.Context()) {
			require.False(t, v.Allowed)
			require.Contains(t, v.Reason, "about another call")
		}
	})
	t.Run("changed by its maker afterwards", func(t *testing.T) {
		mine := arguments(t, map[string]any{"path": "b"})
		g := &Gate{Approver: ApproverFunc(func(_ context.Context, q []Question) ([]Answer, error) {
			revised := q[0].Revise(t.Context(), mine)
			mine.Fields["path"] = structpb.NewStringValue("c")
			return []Answer{{Approved: true, Revised: &revised}}, nil
		})}
		require.Equal(t, "b", g.Review([]Call{edit}).Ask(t.Context())[0].Arguments.AsMap()["path"])
	})
}

func TestQuestionsThatAGrantCovers(t *testing.T) {
	g := &Gate{Place: policy.Place{Root: "/p", Dir: "/p"}, Approver: ApproverFunc(func(_ context.Context, q []Question) ([]Answer, error) {
		require.True(t, q[1].CoveredBy(q[0].Offer))
		require.False(t, q[2].CoveredBy(q[0].Offer))
		return make([]Answer, len(q)), nil
	})}
	g.Review([]Call{
		callOf(t, "op", map[string]any{"path": "docs/a"}), callOf(t, "op", map[string]any{"path": "docs/b"}), callOf(t, "op", map[string]any{"path": "src/a"}),
	}).Ask(t.Context())
	require.False(t, Question{}.CoveredBy(&Grant{}))
}
