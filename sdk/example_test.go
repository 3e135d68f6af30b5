package sdk_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

type greetIn struct {
	Name string `json:"name" doc:"Whom to greet."`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

func hello() *sdk.Provider[struct{}] {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", func(_ context.Context, _ *sdk.Call[struct{}], in greetIn) (greetOut, error) {
		return greetOut{"Hello, " + in.Name}, nil
	}).ReadOnly().Render(func(in greetIn, out greetOut) string { return fmt.Sprintf("%s (to %s)", out.Greeting, in.Name) })
	return p
}

func TestSmallestProvider(t *testing.T) {
	h := sdktest.Start(t, hello(), nil)
	result := h.Call(t.Context(), "greet", map[string]any{"name": "Ada"})
	require.Equal(t, map[string]any{"greeting": "Hello, Ada"}, result.Result)

	tree, err := h.Render(t.Context(), result.Result)
	require.NoError(t, err)
	require.Equal(t, "Hello, Ada (to Ada)", tree.GetRoot().GetText().GetContent())

	// A result of another process: its arguments are not known here.
	tree, err = h.Render(t.Context(), map[string]any{"greeting": "Hello, Bob"})
	require.NoError(t, err)
	require.Equal(t, "Hello, Bob (to )", tree.GetRoot().GetText().GetContent())
}
