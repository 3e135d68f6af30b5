package history

import (
	"testing"

	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// The arguments of a call are those it ran with; those it was asked for with are told only when they are others.
func TestArguments(t *testing.T) {
	one, err := structpb.NewStruct(map[string]any{"command": "one"})
	require.NoError(t, err)
	two, err := structpb.NewStruct(map[string]any{"command": "two"})
	require.NoError(t, err)
	none := &structpb.Struct{}
	for _, test := range []struct {
		name                        string
		asked, input, ran, wasAsked *structpb.Struct
	}{
		{"not decided about", one, nil, one, nil},
		{"approved as it was", one, one, one, nil},
		{"edited", one, two, two, one},
		{"edited to nothing", one, none, none, one},
		{"edited from nothing", nil, two, two, none},
		{"without arguments", nil, none, none, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Call{asked: test.asked, Plan: &planv1.PlanItem{Input: test.input}}
			require.Equal(t, test.ran, c.Arguments())
			require.Equal(t, test.wasAsked == nil, c.Requested() == nil)
			require.Equal(t, test.wasAsked.AsMap(), c.Requested().AsMap())
		})
	}
}

// What has no plan and completed was let through by the default.
func TestDecidedBy(t *testing.T) {
	for _, test := range []struct {
		name string
		call Call
		want string
	}{
		{"a reading", Call{Status: Completed}, policy.FreeByDefault},
		{"a plan", Call{Status: Completed, Plan: &planv1.PlanItem{DecidedBy: "--yes"}}, "--yes"},
		{"refused before anything was decided", Call{Status: Failed}, ""},
		{"its plan may be lost, too", Call{Status: Completed, Lost: true}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, test.call.DecidedBy())
		})
	}
}
