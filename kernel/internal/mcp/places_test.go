package mcp

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A client that makes more calls than there is room for leaves some of it to the others.
func TestPlacesAreShared(t *testing.T) {
	const most = 6
	w := start(t, nil, func(o *Options) { o.MostCalls = most }).listen(t, HTTPOptions{})
	began := make(chan struct{}, 100)
	greedy := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { began <- struct{}{} }})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 2*most)
	for n := range 2 * most {
		go func() {
			p := &sdk.CallToolParams{Name: "fixture_block"}
			p.SetProgressToken(n)
			_, err := greedy.CallTool(ctx, p)
			over <- err
		}()
	}
	for range most / 2 {
		<-began
	}
	for range 2*most - most/2 {
		err := <-over
		var busy *jsonrpc.Error
		require.True(t, errors.As(err, &busy), err)
		require.EqualValues(t, codeBusy, busy.Code)
		require.Contains(t, busy.Message, "3 calls of this client run already")
	}
	require.False(t, callTool(t, w.connect(t, nil), "fixture_echo", map[string]any{"text": "x"}).IsError)
	cancel()
	for range most / 2 {
		require.ErrorIs(t, <-over, context.Canceled)
	}
}

func TestPlaces(t *testing.T) {
	p := &places{most: 2, of: map[*sdk.ServerSession]int{}}
	one, other := &sdk.ServerSession{}, &sdk.ServerSession{} // as on stdin and stdout, where there is one client
	require.NoError(t, p.take(one))
	require.NoError(t, p.take(one))
	require.ErrorContains(t, p.take(other), "2 calls run already, which is the most")
	p.leave(one)
	require.NoError(t, p.take(other))
	p.leave(one)
	p.leave(other)
	require.Empty(t, p.of)
	require.Zero(t, p.taken)
}
