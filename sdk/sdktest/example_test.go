package sdktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

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
