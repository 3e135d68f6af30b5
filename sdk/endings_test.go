package sdk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

// A result that has left when its call is cancelled is dropped by gRPC, and the provider has nothing to report by itself:
// it is asked. The result waits for a reader that does not come, so that the function, and all of the call, has ended.
func TestCallThatWasOverIsReported(t *testing.T) {
	for _, test := range []struct {
		name, what, note string
	}{
		{"a result", strings.Repeat("x", 300<<10), "completed before the cancellation took effect; its result is too large to be sent once more"},
		{"an error", "fail", "cancelled; it ended with: no space " + strings.Repeat("x", 32<<10-len("cancelled; it ended with: no space "))},
	} {
		t.Run(test.name, func(t *testing.T) {
			ended := make(chan struct{})
			h := start(t, func(ctx context.Context, c *call, in doIn) (doOut, error) {
				context.AfterFunc(ctx, func() { close(ended) }) // the context of a call ends with it, after all else
				c.Status("go")
				if in.What == "fail" {
					return doOut{}, fmt.Errorf("no space %s", strings.Repeat("x", 300<<10))
				}
				return doOut{in.What}, nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			r := h.Watch(ctx, "/", "do", map[string]any{"what": test.what}, func(*toolv1.ToolEvent) {
				<-ended
				cancel()
			})
			require.Nil(t, r.Result)
			require.NotNil(t, r.Report)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, r.Report.GetCategory())
			require.Equal(t, test.note, r.Report.GetMessage())
			require.Empty(t, r.Report.GetDetails().AsMap()["partial_result"])
		})
	}
}

// Whenever a call is cancelled, it has an end or a report, and neither is waited for in vain.
func TestCancellationAtAnyMoment(t *testing.T) {
	var completed, reported int
	for range 30 {
		h := start(t, func(_ context.Context, c *call, in doIn) (doOut, error) {
			c.Status("go")
			return doOut{in.What}, nil
		})
		begin := time.Now()
		h.Call(t.Context(), "do", map[string]any{"what": "it"})
		whole := 2 * time.Since(begin) // so that the moments lie around the end
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(rand.N(whole), cancel)
			r := h.Call(ctx, "do", map[string]any{"what": "it"})
			switch {
			case r.Result != nil:
				completed++
			case r.Report != nil:
				reported++
				require.Contains(t, []string{
					"completed before the cancellation took effect", "cancelled before it began; nothing was done",
					"cancelled before it reached the provider; nothing was done",
				}, r.Report.GetMessage())
			default:
				require.Error(t, ctx.Err())
				require.Empty(t, r.Events, "only a call that was not even made has neither")
			}
			timer.Stop()
			cancel()
		}
		for _, entry := range h.Logs() {
			require.NotContains(t, entry.GetMessage(), "did not take the report")
		}
	}
	t.Logf("%d completed, %d reported", completed, reported)
}

// A secret at the place where a long error is cut goes whole.
func TestReportOfACallThatWasOverHoldsNoPartOfASecret(t *testing.T) {
	ended := make(chan struct{})
	h := sdktest.Start(t, with(func(ctx context.Context, c *call, _ doIn) (doOut, error) {
		context.AfterFunc(ctx, func() { close(ended) })
		c.Status("go")
		return doOut{}, fmt.Errorf("%s", strings.Repeat("hunter2-hunter2 ", 20<<10)) // wherever it is cut
	}), map[string]any{"root": "/", "token": "hunter2-hunter2"})
	ctx, cancel := context.WithCancel(t.Context())
	r := h.Watch(ctx, "/", "do", map[string]any{"what": "it"}, func(*toolv1.ToolEvent) {
		<-ended
		cancel()
	})
	require.NotNil(t, r.Report)
	require.NotContains(t, r.Report.GetMessage(), "hunter")
}
