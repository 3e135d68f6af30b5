package sdk

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

type nought struct{}

// stubborn is a provider whose exclusive tool ends when it is let, whatever its context says.
func stubborn(let <-chan struct{}) *Provider[nought] {
	p := New[nought]("stubborn", "For tests.")
	Tool(p, "stay", "Stays.", func(context.Context, *Call[nought], nought) (nought, error) {
		<-let
		return nought{}, nil
	})
	return p
}

func TestAFunctionThatIgnoresItsCancellationIsAbandonedAndKeepsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		s := stubborn(let).server(nil)
		require.NoError(t, s.configure(t.Context(), nil))
		var sent []*toolv1.ToolEvent
		call := func(ctx context.Context) error {
			return s.invoke(ctx, false, &toolv1.ToolCall{Id: "1", ToolName: "stay", Arguments: &structpb.Struct{}}, func(e *toolv1.ToolEvent) error {
				sent = append(sent, e)
				return nil
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		require.Equal(t, codes.Canceled, status.Code(call(ctx)))
		require.Equal(t, time.Second+graceTime, time.Since(began))
		require.Empty(t, sent)

		// What it may be doing must not run beside another call.
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, codes.DeadlineExceeded, status.Code(call(ctx)))
		close(let)
		require.NoError(t, call(t.Context()))
		require.NotNil(t, sent[0].GetResult())
		require.NoError(t, s.shutdown(t.Context(), errClosed))
	})
}

func TestGraceEndsWithTheCall(t *testing.T) {
	var kept, made context.Context
	p := New[nought]("grace", "For tests.")
	var call *Call[nought]
	Tool(p, "do", "Does it.", func(_ context.Context, c *Call[nought], _ nought) (nought, error) {
		call, made = c, c.Grace()
		return nought{}, made.Err()
	})
	Tool(p, "not", "Does it not.", func(_ context.Context, c *Call[nought], _ nought) (nought, error) {
		call = c
		return nought{}, nil
	})
	Direct(t, p, "do", nil)()
	require.Error(t, made.Err())
	Direct(t, p, "not", nil)()
	kept = call.Grace()
	require.Error(t, kept.Err())
}
