package sdk_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestEmittedEventReachesTheSession(t *testing.T) {
	h := start(t, func(_ context.Context, c *call, _ doIn) (doOut, error) {
		first, err := c.Emit(sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE, Payload: []byte("hello")})
		if err != nil {
			return doOut{}, err
		}
		second, err := c.Emit(sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MEMORY_WRITE, SchemaVersion: "2"})
		return doOut{fmt.Sprint(first, second)}, err
	})
	require.Equal(t, "{event_1 1} {event_2 2}", h.Call(t.Context(), "do", map[string]any{"what": "it"}).Result["did"])
	events := h.Emitted()
	require.Len(t, events, 2)
	require.Equal(t, "hello", string(events[0].GetPayload()))
	require.Equal(t, "1", events[0].GetSchemaVersion())
	require.Equal(t, "01J00000000000000000000001", events[0].GetSessionId())
	require.Equal(t, "2", events[1].GetSchemaVersion())
}

func TestEventsThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		event sdk.Event
		want  string
	}{
		{"no kind", sdk.Event{}, "emit: the event has no kind"},
		{"too large", sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE, Payload: make([]byte, 5<<20)}, "one message carries at most"},
		{"a secret", sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE, Payload: []byte("it is hunter2-hunter2")}, "emit: the payload holds the value of a sensitive attribute"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := with(func(_ context.Context, c *call, _ doIn) (doOut, error) {
				_, err := c.Emit(test.event)
				return doOut{}, err
			})
			h := sdktest.Start(t, p, map[string]any{"root": "/", "token": "hunter2-hunter2"})
			r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, r.Err.GetCategory())
			require.Contains(t, r.Err.GetMessage(), test.want)
			require.Empty(t, h.Emitted())
		})
	}
}

func TestPreviewEmitsNothing(t *testing.T) {
	p := sdk.New[config]("probe", "For tests.")
	sdk.Tool(p, "do", "Does it.", func(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil }).
		Preview(func(c *call, _ doIn) (sdk.Plan, error) {
			_, err := c.Emit(sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE})
			return sdk.Plan{}, err
		})
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	_, err := h.Preview(t.Context(), "do", map[string]any{"what": "it"})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.Empty(t, h.Emitted())
}

// deaf is a kernel that declares none of the callbacks.
type deaf struct {
	kernelv1.UnimplementedKernelCallbackServiceServer
}

func TestWithoutAKernelEmittingSaysSo(t *testing.T) {
	lis := bufconn.Listen(1 << 20)
	s := grpc.NewServer()
	kernelv1.RegisterKernelCallbackServiceServer(s, deaf{})
	go func() { _ = s.Serve(lis) }()
	t.Cleanup(s.Stop)
	for _, test := range []struct {
		name string
		dial sdk.CallbackDialer
	}{
		{"no channel", nil},
		{"a channel that cannot be reached", func() (grpc.ClientConnInterface, error) { return nil, fmt.Errorf("nobody there") }},
		{"a kernel that has gone", func() (grpc.ClientConnInterface, error) {
			nobody := bufconn.Listen(1)
			require.NoError(t, nobody.Close())
			return over(t, nobody), nil
		}},
		{"a kernel without the callback", func() (grpc.ClientConnInterface, error) { return over(t, lis), nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var emitted error
			tools := attached(t, with(func(_ context.Context, c *call, _ doIn) (doOut, error) {
				_, emitted = c.Emit(sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE})
				return doOut{}, emitted
			}), test.dial)
			stream, err := tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
				Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": "it"}),
			}})
			require.NoError(t, err)
			r, err := stream.Recv()
			require.NoError(t, err)
			require.ErrorIs(t, emitted, sdk.ErrNoKernel)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, r.GetEvent().GetError().GetCategory())
		})
	}
}
