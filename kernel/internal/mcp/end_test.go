package mcp

import (
	"context"
	"testing"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A server that is stopped ends a session as cancelled when that cancelled a call of it, and not because its client had
// left without a word.
func TestEndOfAStoppedServer(t *testing.T) {
	for _, test := range []struct {
		name    string
		running bool
		want    error
	}{
		{"every call had ended", false, nil},
		{"a call was running", true, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			ends := make(chan error, 1)
			w := start(t, nil, func(o *Options) {
				open := o.Open
				o.Open = func(a gate.Approver) (*engine.Session, func(error), error) {
					s, end, err := open(a)
					return s, func(failure error) { ends <- failure; end(failure) }, err
				}
			}).listen(t, HTTPOptions{})
			began := make(chan struct{}, 100)
			s := w.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { began <- struct{}{} }})
			require.False(t, callTool(t, s, "fixture_echo", map[string]any{"text": "on"}).IsError)
			if test.running {
				go func() {
					p := &sdk.CallToolParams{Name: "fixture_block"}
					p.SetProgressToken(1)
					_, _ = s.CallTool(t.Context(), p)
				}()
				<-began
			}
			w.stop()
			require.ErrorIs(t, <-ends, test.want)
		})
	}
}
