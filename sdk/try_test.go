package sdk_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

// try runs a provider for an example, which is no test and so has nothing to end it with.
func try(p sdktest.Provider, config map[string]any, act func(*sdktest.Harness)) {
	t := &exampleT{}
	defer func() {
		for _, end := range slices.Backward(t.ends) {
			end()
		}
	}()
	act(sdktest.Start(t, p, config))
}

type exampleT struct {
	testing.TB
	ends []func()
}

func (*exampleT) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (*exampleT) FailNow()                          { panic("failed") }
func (*exampleT) Name() string                      { return "example" }
func (*exampleT) Helper()                           {}
func (*exampleT) Context() context.Context          { return context.Background() }
func (t *exampleT) Cleanup(end func())              { t.ends = append(t.ends, end) }

func TestRenderKnowsTheArgumentsOfTheLastCalls(t *testing.T) {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", greet).ReadOnly().Render(func(in greetIn, out greetOut) string { return out.Greeting + " (to " + in.Name + ")" })
	h := sdktest.Start(t, p, nil)
	result := h.Call(t.Context(), "greet", map[string]any{"name": "Ada"})
	tree, err := h.Render(t.Context(), result.Result)
	require.NoError(t, err)
	require.Equal(t, "Hello, Ada (to Ada)", tree.GetRoot().GetText().GetContent())

	// A result of another process: its arguments are not known here.
	tree, err = h.Render(t.Context(), map[string]any{"greeting": "Hello, Bob"})
	require.NoError(t, err)
	require.Equal(t, "Hello, Bob (to )", tree.GetRoot().GetText().GetContent())
}
