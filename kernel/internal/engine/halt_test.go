package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
)

// A halt cuts a cancellation short like a kill, and leaves providers that the next call starts anew, as often as wanted.
func TestHalt(t *testing.T) {
	session := open(t, Options{})
	for range 4 { // more often than a provider may crash
		ctx, cancel := context.WithCancel(t.Context())
		r := hosttest.NewRecorder()
		go func() {
			<-r.Came
			cancel()
			session.Engine().Halt()
		}()
		require.Equal(t, Cancelled, session.Invoke(ctx, request(t, session, "deaf", nil), r.Show).Status)
		session.Engine().Halt()
		o := session.Invoke(t.Context(), request(t, session, "echo", map[string]any{"text": "hi"}), nil)
		require.Equal(t, Completed, o.Status, o.Error)
	}
}
