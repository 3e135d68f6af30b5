package sdk_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk"
)

// actAs names what the test binary does instead of running tests, so that tests have real processes.
const actAs = "SDK_TEST_ACT_AS"

// closedFile names a file that tells of the provider's end when there is nobody left to tell.
const closedFile = "SDK_TEST_CLOSED_FILE"

// patience guards against hanging alone: what is waited for has no other bound.
const patience = time.Minute

var actors = map[string]func(){
	"noisy": func() {
		p := with(func(_ context.Context, c *call, in doIn) (doOut, error) {
			for range 4000 {
				fmt.Println(strings.Repeat("noise ", 20)) // more than any pipe holds
			}
			return doOut{in.What}, nil
		})
		p.Setup(func(context.Context, *config, sdk.Env) error {
			fmt.Println("printing in Setup")
			return nil
		})
		sdk.Main(p)
	},
	"child": func() {
		fmt.Println("by a child that knows the SDK too")
	},
	"shout": func() {
		for range 4000 {
			fmt.Println(strings.Repeat("noise ", 20)) // more than any pipe holds
		}
	},
	"closing": func() {
		var stopped error
		p := with(func(ctx context.Context, c *call, _ doIn) (doOut, error) {
			c.Status("running")
			<-ctx.Done()
			stopped = context.Cause(ctx)
			fmt.Fprintln(os.Stderr, "stopped: "+stopped.Error())
			return doOut{}, ctx.Err()
		})
		p.Close(func(*config) error {
			fmt.Fprintln(os.Stderr, "closed")
			if file := os.Getenv(closedFile); file != "" {
				return os.WriteFile(file, []byte(stopped.Error()), 0o600)
			}
			return nil
		})
		sdk.Main(p)
	},
	"flooding": func() {
		sdk.Main(with(func(ctx context.Context, c *call, _ doIn) (doOut, error) {
			var beside sync.WaitGroup
			beside.Go(func() {
				for ctx.Err() == nil {
					c.Status("still writing") // waits with the output for a reader
				}
			})
			full := time.AfterFunc(time.Hour, func() { fmt.Fprintln(os.Stderr, "nobody reads") })
			for ctx.Err() == nil {
				full.Reset(300 * time.Millisecond) // no write that is read takes as long
				_, _ = c.Stdout().Write(make([]byte, 32<<10))
			}
			beside.Wait()
			fmt.Fprintln(os.Stderr, "cleaned up")
			return doOut{}, ctx.Err()
		}))
	},
	"loud": func() {
		fmt.Println("in main, without an end of line, and a handshake: 1|1|unix|/nowhere|grpc||")
		fmt.Print("and more")
		p := with(func(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil })
		sdk.Main(p.Setup(func(context.Context, *config, sdk.Env) error {
			printingChild(os.Args[0])
			return nil
		}))
	},
	"flooded": func() {
		var stopped error
		p := with(func(ctx context.Context, c *call, _ doIn) (doOut, error) {
			c.Status("running")
			go func() {
				for {
					fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 20))
				}
			}()
			for ctx.Err() == nil {
				c.Log().Info(strings.Repeat("noise ", 20))
			}
			stopped = context.Cause(ctx)
			return doOut{}, ctx.Err()
		})
		p.Close(func(*config) error {
			return os.WriteFile(os.Getenv(closedFile), []byte(stopped.Error()), 0o600)
		})
		sdk.Main(p)
	},
	"floodedKernel": func() { abandon("flooded", io.Discard) },
	"orphaner":      func() { abandon("closing", os.Stderr) },
	"bench":         func() { sdk.Main(benched()) },
}

// A package may print while it is initialised, by whatever way.
var _ = func() (n int) {
	if os.Getenv(actAs) == "loud" {
		fmt.Println("by package fmt")
		_, _ = syscall.Write(syscall.Stdout, []byte("by a system call\n"))
		printingChild("echo", "by a child")
	}
	return 0
}()

func printingChild(program string, args ...string) {
	child := exec.Command(program, args...)
	child.Env, child.Stdout = append(os.Environ(), actAs+"=child"), os.Stdout
	if err := child.Run(); err != nil {
		panic(err)
	}
}

// command runs the test binary as an actor.
func command(actor string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), actAs+"="+actor) // the last value counts
	return cmd
}

// toolPlugin is the client side of tool.v1.
type toolPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (toolPlugin) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (toolPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return toolv1.NewToolServiceClient(conn), nil
}

// socketFolder is for sockets, for which a test's own folder has too long a name.
func socketFolder(t testing.TB) string {
	sockets, err := os.MkdirTemp("", "sdk")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	return sockets
}

// launch starts the test binary as a provider, the way a kernel does.
func launch(t testing.TB, actor string, stderr io.Writer) (*goplugin.Client, toolv1.ToolServiceClient) {
	cmd := command(actor)
	cmd.Env = append(cmd.Env, goplugin.EnvUnixSocketDir+"="+socketFolder(t))
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue},
		Plugins:         goplugin.PluginSet{plugin.Tool: toolPlugin{}}, Cmd: cmd, SkipHostEnv: true, AutoMTLS: true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(), Stderr: stderr,
	})
	t.Cleanup(client.Kill)
	protocol, err := client.Client()
	require.NoError(t, err)
	raw, err := protocol.Dispense(plugin.Tool)
	require.NoError(t, err)
	tools := raw.(toolv1.ToolServiceClient)
	config := &toolv1.ConfigureRequest{Config: object(t, map[string]any{"root": "/"})}
	_, err = tools.Configure(context.Background(), config)
	require.NoError(t, err)
	return client, tools
}

func TestPrintingCannotDisturbTheProtocolNorStopTheProvider(t *testing.T) {
	_, tools := launch(t, "noisy", io.Discard)
	stream, err := tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
		Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": "it"}),
	}})
	require.NoError(t, err)
	r, err := stream.Recv()
	require.NoError(t, err)
	require.Equal(t, "it", r.GetEvent().GetResult().GetPayload().AsMap()["did"])
}

// What is printed before Main is nothing to the kernel either, and reaches whoever reads the log.
func TestPrintingBeforeTheHandshake(t *testing.T) {
	var stderr syncBuffer
	client, _ := launch(t, "loud", &stderr)
	client.Kill()
	require.Eventually(t, client.Exited, patience, 5*time.Millisecond)
	require.Equal(t, "by package fmt\nby a system call\nby a child\n"+
		"in main, without an end of line, and a handshake: 1|1|unix|/nowhere|grpc||\nand moreby a child that knows the SDK too", strings.TrimSpace(stderr.String()))
}

func TestTerminatedProviderStopsItsCallsAndCloses(t *testing.T) {
	var stderr syncBuffer
	client, tools := launch(t, "closing", &stderr)
	stream, err := tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
		Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": "it"}),
	}})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	process, err := os.FindProcess(client.ReattachConfig().Pid)
	require.NoError(t, err)
	require.NoError(t, terminate(process))
	for err == nil {
		_, err = stream.Recv()
	}
	require.Eventually(t, client.Exited, patience, 5*time.Millisecond)
	require.Contains(t, stderr.String(), "stopped: the provider was told to terminate")
	require.Contains(t, stderr.String(), "closed")
}

func TestTerminatedProviderCleansUpWhenNobodyReadsItsOutput(t *testing.T) {
	var stderr syncBuffer
	client, tools := launch(t, "flooding", &stderr)
	stream, err := tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
		Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": "it"}),
	}})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "nobody reads") }, patience, 5*time.Millisecond)
	process, err := os.FindProcess(client.ReattachConfig().Pid)
	require.NoError(t, err)
	require.NoError(t, terminate(process))
	require.Eventually(t, client.Exited, patience, 5*time.Millisecond)
	require.Contains(t, stderr.String(), "cleaned up")
}

// abandon is a kernel that starts a provider, begins a call, says so and waits to be killed.
func abandon(actor string, stderr io.Writer) {
	t := &orphanT{}
	client, tools := launch(t, actor, stderr)
	stream, err := tools.Invoke(context.Background(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
		Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": "it"}),
	}})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	fmt.Println("pid", client.ReattachConfig().Pid)
	select {}
}

func TestKilledKernelTakesTheProviderWithItInGoodOrder(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	sockets, err := os.MkdirTemp("", "sdk") // what the killed kernel leaves
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), actAs+"=orphaner", closedFile+"="+closed, "TMPDIR="+sockets)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), "pid "))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return gone(pid) }, patience, 5*time.Millisecond)
	cause, err := os.ReadFile(closed)
	require.NoError(t, err)
	// Its death and the end of its connection come in no order.
	require.Contains(t, []string{"the kernel is gone", "context canceled"}, string(cause))
}

func TestStartedByHand(t *testing.T) {
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{nil, 1, "", "This is a provider: a kernel such as agent starts it"},
		{[]string{"--help"}, 0, "dev_overrides", ""},
		{[]string{"--version"}, 0, "probe 1.2.3\n", ""},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(os.Args[0], test.args...)
		cmd.Env = append(os.Environ(), actAs+"=closing")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if test.code == 0 {
			require.NoError(t, err)
		} else {
			require.Error(t, err)
		}
		require.Equal(t, test.code, cmd.ProcessState.ExitCode())
		require.Contains(t, stdout.String(), test.stdout)
		require.Contains(t, stderr.String(), test.stderr)
	}
}
