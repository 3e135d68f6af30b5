package sdk

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/render"
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
		first := k.findLocked("1")
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

// Renderings take no more than a part of the memory together, and the newest stays.
func TestKeptRenderingsAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		put := func(call string, bytes int) {
			made, ok := k.put(call)
			require.True(t, ok)
			made(render.Tree(render.Text(strings.Repeat("x", bytes))))
		}
		slow, ok := k.put("slow")
		require.True(t, ok)
		put("small", 1000)
		for i := range 100 {
			call := strconv.Itoa(i % 10) // some are made again under their id
			put(call, messageBytes-100)
			require.LessOrEqual(t, k.bytes, keptBytes)
			require.NotNil(t, k.findLocked(call))
		}
		require.Nil(t, k.take(t.Context(), "small"))
		require.Nil(t, k.take(t.Context(), "7"))
		require.NotNil(t, k.take(t.Context(), "8"))
		require.NotNil(t, k.take(t.Context(), "9"))
		require.Zero(t, k.bytes)
		put("9", 1000)
		tree := &renderv1.RenderTree{}
		slow(tree)
		require.Same(t, tree, k.take(t.Context(), "slow"), "what is being made is not the oldest that nobody came for")
		time.Sleep(plugin.KeptFor)
		synctest.Wait()
		require.Zero(t, k.bytes)
		require.Empty(t, k.waiting)
	})
}
