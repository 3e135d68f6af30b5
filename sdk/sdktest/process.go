package sdktest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/agentco/agent/proto/plugin"
)

// StartProcess is [Start] for a provider's real binary: it runs cmd the way a kernel does, configures it, and ends it
// with the test, which fails when the process does not end in good order. A test binary can be the provider itself when its TestMain calls main under a variable of cmd.Env.
func StartProcess(t testing.TB, cmd *exec.Cmd, config map[string]any) *Harness {
	t.Helper()
	sockets, err := os.MkdirTemp("", "sdk") // a test's own folder has too long a name for a socket
	require.NoError(t, err)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, goplugin.EnvUnixSocketDir+"="+sockets)
	link := &link{kernel: newKernel(t)}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue},
		Plugins:         goplugin.PluginSet{plugin.Tool: link}, Cmd: cmd, SkipHostEnv: true, AutoMTLS: true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(), Stderr: t.Output(),
	})
	var protocol goplugin.ClientProtocol
	t.Cleanup(func() {
		if protocol != nil {
			_ = protocol.Close() // it is told to end, and has longer for that than Kill gives it
			for end := time.Now().Add(patience); !client.Exited() && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		client.Kill()
		link.serving.Wait()
		require.NoError(t, os.RemoveAll(sockets))
		if cmd.ProcessState == nil {
			return // it never ran, and the test has failed for that
		}
		require.Zero(t, cmd.ProcessState.ExitCode(), "the provider did not end in good order: %s", cmd.ProcessState)
	})
	protocol, err = client.Client()
	require.NoError(t, err)
	conn, err := protocol.Dispense(plugin.Tool)
	require.NoError(t, err)
	h := newHarness(t, link.kernel, conn.(grpc.ClientConnInterface))
	require.NoError(t, h.configure(t.Context(), config))
	return h
}

// link gives the connection to a process, and serves the callbacks on it.
type link struct {
	goplugin.NetRPCUnsupportedPlugin
	kernel  *kernel
	serving sync.WaitGroup
}

func (*link) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (l *link) GRPCClient(_ context.Context, broker *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	l.serving.Go(func() { broker.AcceptAndServe(plugin.CallbackStreamID, l.kernel.server) })
	return conn, nil
}
