package sdk_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestWhatIsNotStreamingFailsWhenItStreams(t *testing.T) {
	const rest = " but is not declared Streaming: register it with .Streaming()"
	for _, test := range []struct {
		name  string
		run   func(*call) error
		want  string
		cause string
	}{
		{"output of a child, whose end hides it", func(c *call) error {
			child := exec.Command(os.Args[0])
			child.Env, child.Stdout = append(os.Environ(), actAs+"=shout"), c.Stdout()
			return child.Run()
		}, "pack wrote output", "*exec.ExitError: "},
		{"output, and an error about something else", func(c *call) error {
			_, _ = c.Stderr().Write([]byte("x"))
			return sdk.NotFound("there is no archive")
		}, "pack wrote output", "there is no archive"},
		{"output that nobody looks after", func(c *call) error {
			_, _ = c.Stdout().Write([]byte("x"))
			return nil
		}, "pack wrote output", "pack wrote output"},
		{"a partial result", func(c *call) error {
			_ = c.Partial(map[string]any{"a": 1})
			c.Exit(1, "")
			return nil
		}, "pack sent a partial result", "pack sent a partial result"},
		{"an exit status", func(c *call) error {
			c.Exit(1, "")
			return nil
		}, "pack sent an exit status", "pack sent an exit status"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := sdk.New[config]("probe", "For tests.")
			sdk.Tool(p, "pack", "Packs it.", func(_ context.Context, c *call, _ doIn) (doOut, error) {
				return doOut{"packed"}, test.run(c)
			})
			h := sdktest.Start(t, p, map[string]any{"root": "/"})
			r := h.Call(t.Context(), "pack", map[string]any{"what": "it"})
			require.Equal(t, []string{"Error"}, kinds(r.Events))
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, r.Err.GetCategory())
			require.Equal(t, test.want+rest, r.Err.GetMessage())
			require.Contains(t, r.Err.GetDetails().AsMap()["cause"], test.cause)
		})
	}
}

func TestACancelledCallThatIsNotStreamingStillReports(t *testing.T) {
	started := make(chan struct{})
	p := sdk.New[config]("probe", "For tests.")
	sdk.Tool(p, "pack", "Packs it.", func(ctx context.Context, c *call, _ doIn) (doOut, error) {
		close(started)
		<-ctx.Done()
		return doOut{}, c.Partial(map[string]any{"packed": 1})
	})
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	r := h.Call(ctx, "pack", map[string]any{"what": "it"})
	require.Equal(t, map[string]any{"packed": 1.0}, r.Report.GetDetails().AsMap()["partial_result"])
}
