package sdk

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// reported is a kernel that keeps the reports of cancelled calls.
type reported struct {
	kernelv1.KernelCallbackServiceClient
	reports []*toolv1.ToolError
}

func (r *reported) Emit(_ context.Context, in *kernelv1.EmitRequest, _ ...grpc.CallOption) (*kernelv1.EmitResult, error) {
	event := &eventv1.ToolResultEvent{}
	if err := proto.Unmarshal(in.GetPayload(), event); err != nil {
		return nil, err
	}
	r.reports = append(r.reports, event.GetError())
	return &kernelv1.EmitResult{}, nil
}

func (*reported) Log(context.Context, *kernelv1.LogRequest, ...grpc.CallOption) (*kernelv1.LogResult, error) {
	return &kernelv1.LogResult{}, nil
}

// TestAKernelThatReadsNothingHoldsUpNoEnd: a Write that waits for its reader gives up when the provider ends, and
// clean-up and report follow.
func TestAKernelThatReadsNothingHoldsUpNoEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		handle  Handler[nought, nought, nought]
		message string
		output  string
	}{
		{"while output is written", func(ctx context.Context, c *Call[nought], _ nought) (nought, error) {
			large := xs(unreadBytes + 2*chunkBytes)
			_, err := c.Stdout().Write(large)
			require.NoError(t, err)
			require.Error(t, ctx.Err())
			clear(large) // it is the function's again
			require.NoError(t, c.Grace().Err())
			c.Report("cleaned up")
			return nought{}, ctx.Err()
		}, "cleaned up", string(xs(2 * chunkBytes))},
		{"while a partial result is sent", func(ctx context.Context, c *Call[nought], _ nought) (nought, error) {
			fillStream(t, c)
			require.NoError(t, c.Partial(map[string]any{"done": 1}))
			require.Error(t, ctx.Err())
			return nought{}, ctx.Err()
		}, "cancelled", ""},
		{"while the result is sent", func(_ context.Context, c *Call[nought], _ nought) (nought, error) {
			fillStream(t, c)
			return nought{}, nil
		}, "completed before the cancellation took effect", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New[nought]("full", "For tests.")
				Tool(p, "do", "Does it.", test.handle).Streaming()
				kernel := &reported{}
				s := p.server(nil)
				s.callbacks.client = kernel
				require.NoError(t, s.configure(t.Context(), nil))
				over := make(chan struct{})
				unread := 0
				ended := make(chan error, 1)
				go func() {
					ended <- s.invoke(t.Context(), false, &toolv1.ToolCall{Id: "1", ToolName: "do"}, func(e *toolv1.ToolEvent) error {
						if unread < unreadBytes { // as gRPC does it
							unread += proto.Size(e)
							return nil
						}
						<-over
						return errors.New("the stream is over")
					})
					close(over)
				}()
				synctest.Wait()
				began := time.Now()
				require.NoError(t, s.shutdown(t.Context(), errClosed))
				require.Zero(t, time.Since(began), "nobody waited for the grace time")
				require.Equal(t, codes.Canceled, status.Code(<-ended))
				require.Len(t, kernel.reports, 1)
				require.Equal(t, test.message, kernel.reports[0].GetMessage())
				require.Equal(t, test.output, kernel.reports[0].GetDetails().AsMap()["output"])
			})
		})
	}
}

// fillStream sends as much as a stream takes that nobody reads.
func fillStream(t *testing.T, c *Call[nought]) {
	t.Helper()
	_, err := c.Stdout().Write(xs(unreadBytes))
	require.NoError(t, err)
	require.NoError(t, c.Context().Err())
}

func xs(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }
