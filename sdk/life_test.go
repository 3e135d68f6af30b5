package sdk

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestNothingBeginsInAProviderThatEnds(t *testing.T) {
	closed := false
	p := New[nought]("ending", "For tests.").Close(func(*nought) error {
		closed = true
		return nil
	})
	Tool(p, "do", "Does it.", func(context.Context, *Call[nought], nought) (nought, error) {
		require.False(t, closed)
		return nought{}, nil
	}).Preview(func(*Call[nought], nought) (Plan, error) {
		require.False(t, closed)
		return Plan{}, nil
	})
	s := p.server(nil)
	require.NoError(t, s.configure(t.Context(), nil))
	require.NoError(t, s.shutdown(t.Context(), errClosed))
	require.True(t, closed)

	call := &toolv1.ToolCall{Id: "1", ToolName: "do"}
	var last *toolv1.ToolEvent
	require.NoError(t, s.invoke(t.Context(), false, call, func(e *toolv1.ToolEvent) error {
		last = e
		return nil
	}))
	require.Equal(t, "provider ending is ending; nothing was done", last.GetError().GetMessage())
	require.True(t, last.GetError().GetRetryable())
	_, err := s.preview(t.Context(), false, call)
	require.ErrorContains(t, err, "nothing was done")
	require.ErrorContains(t, s.configure(t.Context(), nil), "nothing was done")
}

func TestClosingWaitsForAPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looking, closed := false, false
		p := New[nought]("looking", "For tests.").Close(func(*nought) error {
			closed = true
			return nil
		})
		Tool(p, "do", "Does it.", func(context.Context, *Call[nought], nought) (nought, error) { return nought{}, nil }).
			Preview(func(c *Call[nought], _ nought) (Plan, error) {
				looking = true
				<-c.Context().Done()
				time.Sleep(time.Second)
				require.False(t, closed)
				return Plan{}, c.Context().Err()
			})
		s := p.server(nil)
		require.NoError(t, s.configure(t.Context(), nil))
		go func() { _, _ = s.preview(t.Context(), false, &toolv1.ToolCall{ToolName: "do"}) }()
		synctest.Wait()
		require.True(t, looking)
		require.NoError(t, s.shutdown(t.Context(), errClosed))
		require.True(t, closed)
	})
}

func TestASetupThatGoesOnHoldsUpNoEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		heeds   bool
		takes   time.Duration
		refusal string
	}{
		{"one that heeds its context", true, 0, "context canceled"},
		{"one that does not", false, graceTime + time.Second, "is ending"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				closed := 0
				p := New[nought]("slow", "For tests.").Setup(func(ctx context.Context, _ *nought, _ Env) error {
					if test.heeds {
						<-ctx.Done()
						return ctx.Err()
					}
					time.Sleep(time.Hour)
					return nil
				}).Close(func(*nought) error {
					closed++
					return nil
				})
				s := p.server(nil)
				configured := make(chan error, 1)
				go func() { configured <- s.configure(t.Context(), nil) }()
				synctest.Wait()
				began := time.Now()
				_ = s.shutdownAlone(errKernelGone)
				require.Equal(t, test.takes, time.Since(began))
				require.ErrorContains(t, <-configured, test.refusal)
				if !test.heeds {
					require.Equal(t, 1, closed, "what was opened too late is closed all the same")
				}
			})
		})
	}
}

func TestACloseThatGoesOnIsAbandonedWhenNobodyIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		p := New[nought]("lingering", "For tests.").Close(func(*nought) error {
			<-let
			return nil
		})
		s := p.server(nil)
		require.NoError(t, s.configure(t.Context(), nil))
		require.ErrorContains(t, s.shutdownAlone(errKernelGone), "Close function went on for too long")
		close(let)
	})
}

// deaf is a kernel that takes no log.
type deaf struct {
	kernelv1.KernelCallbackServiceClient
}

func (deaf) Log(ctx context.Context, _ *kernelv1.LogRequest, _ ...grpc.CallOption) (*kernelv1.LogResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAKernelThatTakesNoLogHoldsUpNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCallbacks(nil)
		c.client = deaf{}
		for i := range logBacklog {
			c.logger(fmt.Sprint("session", i), "test").Info("waits") // each a message of its own
		}
		began := time.Now()
		require.NoError(t, c.close())
		require.Equal(t, kernelPatience, time.Since(began))
	})
}
