package sdk

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/render"
)

// However a call ends, nothing of it is taken for a call that runs, which a kernel would wait for.
func TestNoEndLeavesACallRunning(t *testing.T) {
	type handler = Handler[nought, nought, nought]
	well := func(context.Context, *Call[nought], nought) (nought, error) { return nought{}, nil }
	for _, test := range []struct {
		name    string
		handle  handler
		show    func(nought) render.Node
		rpc     func(context.Context) (context.Context, context.CancelFunc)
		call    string
		sending error
	}{
		{name: "a result", handle: well},
		{name: "an error", handle: func(context.Context, *Call[nought], nought) (nought, error) { return nought{}, Failed("no") }},
		{name: "a panic", handle: func(context.Context, *Call[nought], nought) (nought, error) { panic("no") }},
		{name: "the end of its goroutine", handle: func(context.Context, *Call[nought], nought) (nought, error) {
			runtime.Goexit()
			return nought{}, nil
		}},
		{name: "an error that ends the goroutine of whoever reads it", handle: func(context.Context, *Call[nought], nought) (nought, error) {
			return nought{}, vanishing{}
		}},
		{name: "the end of the goroutine of what shows it", handle: well, show: func(nought) render.Node { runtime.Goexit(); return nil }},
		{name: "a panic of what shows it", handle: well, show: func(nought) render.Node { panic("no") }},
		{name: "a cancellation", handle: func(ctx context.Context, _ *Call[nought], _ nought) (nought, error) {
			<-ctx.Done()
			return nought{}, ctx.Err()
		}, rpc: within(time.Second)},
		{name: "a cancellation that is ignored", handle: func(context.Context, *Call[nought], nought) (nought, error) {
			time.Sleep(time.Minute)
			return nought{}, nil
		}, rpc: within(time.Second)},
		{name: "what shows it goes on", handle: well, show: func(nought) render.Node { time.Sleep(time.Minute); return nil }, rpc: within(time.Second)},
		{name: "a cancellation before it", handle: well, rpc: within(0)},
		{name: "an operation that there is not", handle: well, call: "undo"},
		{name: "a stream that has ended", handle: well, sending: errors.New("the stream is over")},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New[nought]("ends", "For tests.")
				op := Tool(p, "do", "Does it.", test.handle)
				if test.show != nil {
					op.Show(test.show)
				}
				s := p.server(nil)
				require.NoError(t, s.configure(t.Context(), nil))
				ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(plugin.RenderHeader, "1", plugin.AttemptHeader, "2"))
				if test.rpc != nil {
					limited, cancel := test.rpc(ctx)
					defer cancel()
					ctx = limited
				}
				call := &toolv1.ToolCall{Id: "1", ToolName: "do"}
				if test.call != "" {
					call.ToolName = test.call
				}
				_ = s.invoke(ctx, false, call, func(*toolv1.ToolEvent) error { return test.sending })
				require.Empty(t, s.endings.running)
				require.NotNil(t, s.endings.find(attempt{"1", "2"}))
				require.NoError(t, s.shutdown(t.Context(), errClosed))
				time.Sleep(time.Minute) // for what goes on
			})
		})
	}
}

type vanishing struct{}

func (vanishing) Error() string { runtime.Goexit(); return "" }

func within(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// A Close function that ends its goroutine ends no more than that.
func TestACloseThatVanishes(t *testing.T) {
	p := New[nought]("ends", "For tests.").Close(func(*nought) error { runtime.Goexit(); return nil })
	s := p.server(nil)
	require.NoError(t, s.configure(t.Context(), nil))
	require.ErrorContains(t, s.shutdown(t.Context(), errClosed), "close ends: it ended its goroutine instead of returning")
}
