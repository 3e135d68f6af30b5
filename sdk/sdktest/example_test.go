package sdktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

type greetIn struct {
	Name string `json:"name"`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

func hello() *sdk.Provider[struct{}] {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", func(_ context.Context, _ *sdk.Call[struct{}], in greetIn) (greetOut, error) {
		return greetOut{"Hello, " + in.Name}, nil
	}).ReadOnly()
	return p
}

// napper is a provider that takes its time.
func napper() *sdk.Provider[struct{}] {
	p := sdk.New[struct{}]("napper", "Sleeps.")
	sdk.Tool(p, "nap", "Sleep until somebody calls.", func(ctx context.Context, c *sdk.Call[struct{}], _ struct{}) (struct{}, error) {
		c.Status("asleep")
		<-ctx.Done()
		c.Report("woken after %d dreams", 2)
		return struct{}{}, ctx.Err()
	}).ReadOnly()
	return p
}

// A test of a cancellation cancels at an event, and looks at what the call reported of itself. The events are those of
// package github.com/agentco/agent/proto/pluggableharness/tool/v1.
func Example_cancellation() {
	test := func(t testing.TB) {
		h := sdktest.Start(t, napper(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		r := h.Watch(ctx, h.Dir, "nap", nil, func(event *toolv1.ToolEvent) {
			if event.GetProgress().GetMessage() == "asleep" {
				cancel()
			}
		})
		require.Equal(t, codes.Canceled, status.Code(r.Status))
		require.Nil(t, r.Err)
		require.Equal(t, "woken after 2 dreams", r.Report.GetMessage())
	}

	fmt.Print((&failing{}).run(test))
	// Output:
}

// A test of a provider starts it, calls it, and looks at what came of it.
func Example() {
	test := func(t testing.TB) {
		h := sdktest.Start(t, hello(), nil)

		r := h.Call(t.Context(), "greet", map[string]any{"name": "Ada"})
		require.Nil(t, r.Err)
		require.Equal(t, map[string]any{"greeting": "Hello, Ada"}, r.Result)

		r = h.Call(t.Context(), "greet", nil)
		require.Equal(t, "argument name is required", r.Err.GetMessage())
	}

	fmt.Print((&failing{}).run(test))
	// Output:
}
