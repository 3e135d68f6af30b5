package sdk

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
)

// What nobody comes for is not kept for long, and never much of it.
func TestRenderingsAreKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		tree := &renderv1.RenderTree{}
		for i := range mostKept {
			made, ok := k.put(strconv.Itoa(i))
			require.True(t, ok)
			made(tree)
		}
		_, ok := k.put("one more")
		require.False(t, ok)
		time.Sleep(plugin.KeptFor - time.Nanosecond)
		synctest.Wait()
		require.Same(t, tree, k.take(t.Context(), "0"))
		require.Nil(t, k.take(t.Context(), "0"))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Nil(t, k.take(t.Context(), "1"))
		require.Empty(t, k.waiting)
	})
}

// A call that is made again under its id has the rendering of its last result.
func TestRenderingOfALaterAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		made, _ := k.put("1")
		made(&renderv1.RenderTree{})
		first := k.waiting["1"]
		time.Sleep(plugin.KeptFor / 2)
		made, _ = k.put("1")
		require.False(t, first.over.Stop(), "nothing holds on to the one before")
		last := &renderv1.RenderTree{}
		made(last)
		time.Sleep(plugin.KeptFor * 3 / 4)
		synctest.Wait()
		require.Same(t, last, k.take(t.Context(), "1"))
	})
}

// Who waits for a rendering that is not made yet may give up.
func TestRenderingIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		_, _ = k.put("1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Nil(t, k.take(ctx, "1"))

		made, _ := k.put("2")
		tree := &renderv1.RenderTree{}
		time.AfterFunc(time.Second, func() { made(tree) })
		require.Same(t, tree, k.take(t.Context(), "2"))
	})
}
