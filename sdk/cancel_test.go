package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
)

func TestCancelledCallReportsOverTheCallbackChannel(t *testing.T) {
	h := start(t, func(ctx context.Context, c *call, _ doIn) (doOut, error) {
		fmt.Fprint(c.Stdout(), "before\n")
		<-ctx.Done()
		fmt.Fprint(c.Stdout(), "after\n")
		if c.Grace().Err() != nil {
			return doOut{}, errors.New("no grace")
		}
		c.Report("half done: %d of %d", 1, 2)
		return doOut{}, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	r := h.Watch(ctx, "/", "do", map[string]any{"what": "it"}, func(e *toolv1.ToolEvent) {
		if e.GetOutputChunk() != nil {
			cancel()
		}
	})
	require.Equal(t, codes.Canceled, status.Code(r.Status))
	require.Nil(t, r.Err)
	require.Nil(t, r.Result)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, r.Report.GetCategory())
	require.Equal(t, "half done: 1 of 2", r.Report.GetMessage())
	require.Equal(t, map[string]any{
		"output":         "after\n",
		"partial_result": map[string]any{"note": "half done: 1 of 2"},
	}, r.Report.GetDetails().AsMap())
}

func TestCancellationSaysWhatIsTrue(t *testing.T) {
	for _, test := range []struct {
		name string
		then func(ctx context.Context) (doOut, error)
		want string
		part map[string]any
	}{
		{"finished all the same", func(context.Context) (doOut, error) { return doOut{"all"}, nil }, "completed before the cancellation took effect", map[string]any{"did": "all"}},
		{"stopped silently", func(ctx context.Context) (doOut, error) { return doOut{}, ctx.Err() }, "cancelled", map[string]any{}},
		{"failed meanwhile", func(context.Context) (doOut, error) { return doOut{}, sdk.Failed("disk full") }, "cancelled; it ended with: disk full", map[string]any{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			started := make(chan struct{})
			h := start(t, func(ctx context.Context, _ *call, _ doIn) (doOut, error) {
				close(started)
				<-ctx.Done()
				return test.then(ctx)
			})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-started
				cancel()
			}()
			r := h.Call(ctx, "do", map[string]any{"what": "it"})
			require.Equal(t, test.want, r.Report.GetMessage())
			require.Equal(t, test.part, r.Report.GetDetails().AsMap()["partial_result"])
		})
	}
}

func TestOutputAfterCancelThatIsNotTextTravelsAsBase64AndIsBounded(t *testing.T) {
	h := start(t, func(ctx context.Context, c *call, _ doIn) (doOut, error) {
		c.Status("go")
		<-ctx.Done()
		fmt.Fprint(c.Stdout(), strings.Repeat("\xff", 100<<10))
		return doOut{}, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	r := h.Watch(ctx, "/", "do", map[string]any{"what": "it"}, func(*toolv1.ToolEvent) { cancel() })
	details := r.Report.GetDetails().AsMap()
	require.Equal(t, "base64", details["output_encoding"])
	require.Len(t, details["output"], (64<<10+2)/3*4)
}
