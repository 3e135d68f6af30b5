package sdk_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

// A rendering travels with its result when the kernel asks for that, the result is small and there is something to show; the
// call ends well in any case.
func TestRenderingTravelsWithTheResult(t *testing.T) {
	did := func(out doOut) render.Node { return render.Text("did " + out.Did) }
	for _, test := range []struct {
		name, what string
		unasked    bool
		show       func(doOut) render.Node
		want       string
	}{
		{name: "a small result", what: "it", show: did, want: "did it"},
		{name: "not asked for", what: "it", show: did, unasked: true},
		{name: "a large result", what: strings.Repeat("x", plugin.LongestRendering), show: did},
		{name: "a large rendering", what: "it", show: func(doOut) render.Node { return render.Text(strings.Repeat("x", plugin.LongestRendering)) }},
		{name: "nothing that shows it", what: "it"},
		{name: "nothing to show", what: "it", show: func(doOut) render.Node { return nil }},
		{name: "a fault in what shows it", what: "it", show: func(doOut) render.Node { panic("the moon fell") }},
		{name: "a failure", what: "fail", show: did},
		{name: "a secret", what: "hunter2-hunter2", show: func(doOut) render.Node { return render.Text("the token is hunter2-hunter2") }, want: "the token is ********"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := sdk.New[config]("probe", "For tests.")
			op := sdk.Tool(p, "do", "Does it.", func(_ context.Context, _ *call, in doIn) (doOut, error) {
				if in.What == "fail" {
					return doOut{}, sdk.Failed("it cannot be done")
				}
				return doOut{in.What}, nil
			})
			if test.show != nil {
				op.Show(test.show)
			}
			tools, _ := served(t, p, nil)
			_, err := tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, map[string]any{"root": "/", "token": "hunter2-hunter2"})})
			require.NoError(t, err)
			tree := sentAlong(t, tools, test.what, !test.unasked)
			if test.want == "" {
				require.Nil(t, tree)
				return
			}
			require.Equal(t, test.want, tree.GetRoot().GetText().GetContent())
		})
	}
}

// A rendering that is too large to travel is kept for a Render that says whose it is, and once only.
func TestLargeRenderingIsKept(t *testing.T) {
	large := strings.Repeat("x", plugin.LongestRendering)
	for _, test := range []struct {
		name, what string
		unasked    bool
		show       func(doOut) render.Node
		want       string // of what is kept; empty when nothing is said to be
		none       bool   // it is said to be, and there is nothing
	}{
		{name: "a large result", what: large, show: func(out doOut) render.Node { return render.Text("did " + out.Did) }, want: "did " + large},
		{name: "a large rendering", what: "it", show: func(doOut) render.Node { return render.Text(large) }, want: large},
		{name: "a secret", what: large, show: func(doOut) render.Node { return render.Text("hunter2-hunter2") }, want: "********"},
		{name: "a small one", what: "it", show: func(doOut) render.Node { return render.Text("it") }},
		{name: "not asked for", what: large, unasked: true, show: func(doOut) render.Node { return render.Text("it") }},
		{name: "nothing that shows it", what: large},
		{name: "nothing to show", what: large, show: func(doOut) render.Node { return nil }, none: true},
		{name: "a fault in what shows it", what: large, show: func(doOut) render.Node { panic("the moon fell") }, none: true},
		{name: "the end of its goroutine", what: large, show: func(doOut) render.Node { runtime.Goexit(); return nil }, none: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := sdk.New[config]("probe", "For tests.")
			op := sdk.Tool(p, "do", "Does it.", func(_ context.Context, _ *call, in doIn) (doOut, error) { return doOut{in.What}, nil })
			if test.show != nil {
				op.Show(test.show)
			}
			tools, _ := served(t, p, nil)
			_, err := tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, map[string]any{"root": "/", "token": "hunter2-hunter2"})})
			require.NoError(t, err)
			trailer := made(t, tools, test.what, !test.unasked)
			kept := test.want != "" || test.none
			require.Equal(t, kept, len(trailer.Get(plugin.RenderingKept)) > 0)
			if !kept {
				return
			}
			ctx := metadata.AppendToOutgoingContext(t.Context(), plugin.RenderHeader, "1")
			if test.want != "" {
				r, err := tools.Render(ctx, &toolv1.RenderRequest{SchemaVersion: plugin.SchemaVersion})
				require.NoError(t, err)
				require.Equal(t, test.want, r.GetTree().GetRoot().GetText().GetContent())
			}
			_, err = tools.Render(ctx, &toolv1.RenderRequest{SchemaVersion: plugin.SchemaVersion})
			require.ErrorContains(t, err, `the rendering of call "1" is not kept here`)
		})
	}
}

// What is wrong with what shows a result is in the kernel's log: a person sees the result in another form, and not why.
func TestAFaultOfShowIsLogged(t *testing.T) {
	p := sdk.New[config]("probe", "For tests.")
	sdk.Tool(p, "do", "Does it.", func(_ context.Context, _ *call, in doIn) (doOut, error) { return doOut{in.What}, nil }).
		Show(func(doOut) render.Node { panic("the moon fell") })
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	_, err := h.Render(t.Context(), map[string]any{"did": "it"})
	require.ErrorContains(t, err, "the moon fell")
	h.Call(t.Context(), "do", map[string]any{"what": "it"}) // what was logged before is delivered with its end
	require.Len(t, h.Logs(), 1)
	require.Contains(t, h.Logs()[0].GetMessage(), "render do: panic: the moon fell")
}

// sentAlong makes a call, and returns the rendering that came with its end.
func sentAlong(t *testing.T, tools toolv1.ToolServiceClient, what string, asking bool) *renderv1.RenderTree {
	t.Helper()
	sent := made(t, tools, what, asking).Get(plugin.RenderingTrailer)
	if len(sent) == 0 {
		return nil
	}
	tree := &renderv1.RenderTree{}
	require.NoError(t, proto.Unmarshal([]byte(sent[0]), tree))
	return tree
}

// made makes a call, and returns what came with its end.
func made(t *testing.T, tools toolv1.ToolServiceClient, what string, asking bool) metadata.MD {
	t.Helper()
	ctx := t.Context()
	if asking {
		ctx = metadata.AppendToOutgoingContext(ctx, plugin.RenderHeader, "1")
	}
	stream, err := tools.Invoke(ctx, &toolv1.InvokeRequest{Call: &toolv1.ToolCall{Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": what})}})
	require.NoError(t, err)
	for err == nil {
		_, err = stream.Recv()
	}
	require.True(t, errors.Is(err, io.EOF), err)
	return stream.Trailer()
}
