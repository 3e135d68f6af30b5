package sdk_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

// served gives the bare services of p, with the callbacks of dial or without any.
func served(t *testing.T, p sdktest.Provider, dial sdk.CallbackDialer) (toolv1.ToolServiceClient, slashcommandv1.SlashCommandServiceClient) {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	s := grpc.NewServer()
	attachment := p.Attach(s, dial)
	go func() { _ = s.Serve(lis) }()
	conn := over(t, lis)
	t.Cleanup(func() {
		require.NoError(t, attachment.Close(context.Background()))
		require.NoError(t, conn.Close())
		s.Stop()
	})
	return toolv1.NewToolServiceClient(conn), slashcommandv1.NewSlashCommandServiceClient(conn)
}

// attached is served, and configured.
func attached(t *testing.T, p sdktest.Provider, dial sdk.CallbackDialer) toolv1.ToolServiceClient {
	t.Helper()
	tools, _ := served(t, p, dial)
	_, err := tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, map[string]any{"root": "/"})})
	require.NoError(t, err)
	return tools
}

func over(t *testing.T, lis *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	require.NoError(t, err)
	return conn
}
