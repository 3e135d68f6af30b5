package registry

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestMemoOutlivesACancelledCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memo[int]
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		ask := func(ctx context.Context, block chan struct{}) func() (int, error) {
			return func() (int, error) {
				asked++
				select {
				case <-block:
					return 7, nil
				case <-ctx.Done():
					return 0, cancelled(ctx, "ask", "")
				}
			}
		}
		go func() { _, _ = m.get(ctx, "k", ask(ctx, make(chan struct{}))) }()
		synctest.Wait()
		answered := make(chan struct{})
		close(answered)
		got := make(chan int, 1)
		go func() {
			n, err := m.get(t.Context(), "k", ask(t.Context(), answered))
			if err == nil {
				got <- n
			}
		}()
		synctest.Wait()
		require.Empty(t, got, "it waits for the first")
		cancel()
		require.Equal(t, 7, <-got)
		n, err := m.get(t.Context(), "k", nil)
		require.NoError(t, err)
		require.Equal(t, 7, n)
		require.Equal(t, 2, asked)
	})
}

func TestMemoWaiterCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memo[int]
		done := make(chan struct{})
		go func() { _, _ = m.get(t.Context(), "k", func() (int, error) { <-done; return 1, nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := m.get(ctx, "k", nil)
		require.Equal(t, Cancelled, CodeOf(err))
		require.ErrorIs(t, err, context.Canceled)
		close(done)
	})
}
