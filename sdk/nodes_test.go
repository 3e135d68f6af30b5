package sdk_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

// nested is n levels of whatever outer makes.
func nested(n int, outer func(...render.Node) render.Node) render.Node {
	node := render.Text("the core")
	for range n - 1 {
		node = outer(node)
	}
	return node
}

func collapsible(children ...render.Node) render.Node { return render.Collapsible("more", children...) }

func TestNodesThatCannotBeSentAreAnErrorOfTheirRender(t *testing.T) {
	itself := render.Group(render.Text("a"))
	itself.GetGroup().Children = append(itself.GetGroup().GetChildren(), itself, itself)
	inTurns := render.List(render.Ordered())
	inTurns.GetList().GetItems()[0].GetList().Items = []render.Node{render.Collapsible("back", inTurns)}
	doubled := render.Text("a")
	for range 60 {
		doubled = render.Group(doubled, doubled) // 2^60 nodes for whoever walks them
	}
	const deep = "has nodes more than 100 levels deep in each other, or one that holds itself"
	for _, test := range []struct {
		name string
		node render.Node
		want string
	}{
		{"one that holds itself, twice", itself, deep},
		{"two that hold each other", inTurns, deep},
		{"one level too many", nested(101, render.Group), deep},
		{"as many as there may be", nested(100, collapsible), ""},
		{"one node in many places", doubled, "has more than 1032192 nodes"},
		{"none", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := sdk.New[config]("probe", "For tests.")
			sdk.Tool(p, "do", "Does it.", func(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil }).
				Preview(func(*call, doIn) (sdk.Plan, error) { return sdk.Shows(test.node), nil }).
				Show(func(doOut) render.Node { return test.node })
			h := sdktest.Start(t, p, map[string]any{"root": "/"})
			_, err := h.Render(t.Context(), map[string]any{"did": "it"})
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, codes.Unknown, status.Code(err), "which is no reason against a call")
			require.Contains(t, status.Convert(err).Message(), "what shows the result "+test.want)
			_, err = h.Preview(t.Context(), "do", map[string]any{"what": "it"})
			require.Contains(t, status.Convert(err).Message(), "do: the preview "+test.want)
		})
	}
}
