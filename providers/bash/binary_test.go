//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

// binary is the provider as a kernel has it: a process behind go-plugin.
type binary struct {
	t    testing.TB
	tool toolv1.ToolServiceClient
	pid  int
	root string
	end  func()
}

// client makes go-plugin give the plain gRPC client.
type client struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (client) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is the client")
}

func (client) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return toolv1.NewToolServiceClient(conn), nil
}

// build builds the provider as it is shipped, with the race detector if the tests have it.
func build(dir string) (path string, err error) {
	path = filepath.Join(dir, "provider-bash")
	info, _ := debug.ReadBuildInfo()
	race := slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	out, err := exec.Command("go", "build", fmt.Sprintf("-race=%v", race), "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the provider: %w\n%s", err, out)
	}
	return path, nil
}

// launch starts the provider by way of a shell prefix, such as one that ignores signals.
func launch(t testing.TB, prefix string, config fields) *binary {
	t.Helper()
	root := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", prefix+` exec "$0"`, *binaryPath)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "TMPDIR="+shortDir(t)) // a killed provider leaves its socket there
	c, tool, err := connect(cmd, shortDir(t))
	t.Cleanup(c.Kill)
	require.NoError(t, err)
	b := &binary{t: t, tool: tool, pid: cmd.Process.Pid, root: root, end: func() { endInGoodOrder(t, c) }}
	all := fields{"env": map[string]any{markVariable: t.Name()}}
	for name, value := range config {
		all[name] = value
	}
	_, err = b.tool.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, all)})
	require.NoError(t, err)
	return b
}

// connect starts cmd and speaks to it as a kernel does.
func connect(cmd *exec.Cmd, sockets string) (*goplugin.Client, toolv1.ToolServiceClient, error) {
	c := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue,
		},
		Plugins: goplugin.PluginSet{plugin.Tool: client{}}, Cmd: cmd, StartTimeout: patience,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(), UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: sockets},
	})
	rpc, err := c.Client()
	if err != nil {
		return c, nil, err
	}
	tool, err := rpc.Dispense(plugin.Tool)
	if err != nil {
		return c, nil, err
	}
	return c, tool.(toolv1.ToolServiceClient), nil
}

// endInGoodOrder asks a provider to end and waits until it has; Kill alone would give it two seconds.
func endInGoodOrder(t testing.TB, c *goplugin.Client) {
	t.Helper()
	rpc, err := c.Client()
	require.NoError(t, err)
	require.NoError(t, rpc.Close())
	require.Eventually(t, c.Exited, patience, 5*time.Millisecond)
	c.Kill()
}

// kernelVariable makes the test binary a kernel that runs its value as a command, copies
// the output and waits to be killed.
const (
	kernelVariable     = "BASH_TEST_KERNEL"
	providerVariable   = "BASH_TEST_PROVIDER"   // the provider's binary
	backgroundVariable = "BASH_TEST_BACKGROUND" // not empty: the command goes into the background
)

func beKernel(script string) {
	mark := os.Getenv(markVariable)
	_ = os.Unsetenv(markVariable) // the provider itself is not marked
	_, tool, err := connect(exec.Command(os.Getenv(providerVariable)), os.Getenv("TMPDIR"))
	if err == nil {
		config, _ := structpb.NewStruct(fields{"env": fields{markVariable: mark}})
		_, err = tool.Configure(context.Background(), &toolv1.ConfigureRequest{Config: config})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	background := os.Getenv(backgroundVariable) != ""
	arguments, _ := structpb.NewStruct(fields{"command": script, "background": background})
	stream, err := tool.Invoke(context.Background(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{Id: "tc_1", ToolName: "bash", Arguments: arguments}})
	for err == nil {
		var response *toolv1.InvokeResponse
		response, err = stream.Recv()
		_, _ = os.Stdout.Write(response.GetEvent().GetOutputChunk().GetData())
	}
	if background && errors.Is(err, io.EOF) {
		select {} // the call is over, the command is not
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// shortDir is a temporary directory whose name leaves room for a socket's.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bash")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func object(t testing.TB, m fields) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

// invoke starts a call.
func (b *binary) invoke(ctx context.Context, command string, extra fields) toolv1.ToolService_InvokeClient {
	b.t.Helper()
	arguments := fields{"command": command}
	for name, value := range extra {
		arguments[name] = value
	}
	return b.call(ctx, "bash", arguments)
}

// call starts a call of any tool.
func (b *binary) call(ctx context.Context, tool string, arguments fields) toolv1.ToolService_InvokeClient {
	b.t.Helper()
	stream, err := b.tool.Invoke(ctx, &toolv1.InvokeRequest{Call: &toolv1.ToolCall{Id: "tc_1", ToolName: tool, Arguments: object(b.t, arguments)}})
	require.NoError(b.t, err)
	return stream
}

// outcome is what a whole call came to.
type outcome struct {
	stdout, stderr string
	events         []*toolv1.ToolEvent
	err            error
}

func collect(stream toolv1.ToolService_InvokeClient) (o outcome) {
	for {
		response, err := stream.Recv()
		if err != nil {
			o.err = err
			return o
		}
		o.events = append(o.events, response.GetEvent())
		if chunk := response.GetEvent().GetOutputChunk(); chunk.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDERR {
			o.stderr += string(chunk.GetData())
		} else {
			o.stdout += string(chunk.GetData())
		}
	}
}

func (o outcome) last() *toolv1.ToolEvent { return o.events[len(o.events)-1] }

// until reads events until the output contains mark.
func until(t *testing.T, stream toolv1.ToolService_InvokeClient, mark string) {
	t.Helper()
	seen := ""
	for !strings.Contains(seen, mark) {
		response, err := stream.Recv()
		require.NoError(t, err)
		seen += string(response.GetEvent().GetOutputChunk().GetData())
	}
}

func requireNoSurvivors(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(survivors(t)) == 0 }, patience, 10*time.Millisecond)
}
