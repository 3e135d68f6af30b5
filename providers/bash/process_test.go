//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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

// launch starts the test binary as the provider (see TestMain) by way of a shell prefix,
// such as one that ignores signals.
func launch(t testing.TB, prefix string, config fields) *binary {
	t.Helper()
	root := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", prefix+` exec "$0"`, self(t))
	cmd.Dir, cmd.Env = root, append(os.Environ(), "TMPDIR="+shortDir(t)) // a killed provider leaves its socket there
	c, tool, err := connect(cmd, shortDir(t))
	t.Cleanup(c.Kill)
	require.NoError(t, err)
	b := &binary{t: t, tool: tool, pid: cmd.Process.Pid, root: root, end: c.Kill}
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

// kernelVariable makes the test binary a kernel that runs its value as a command, copies
// the output and waits to be killed.
const (
	kernelVariable     = "BASH_TEST_KERNEL"
	backgroundVariable = "BASH_TEST_BACKGROUND" // not empty: the command goes into the background
)

func beKernel(script string) {
	mark := os.Getenv(markVariable)
	_ = os.Unsetenv(markVariable) // the provider itself is not marked
	_, tool, err := connect(exec.Command("/proc/self/exe"), os.Getenv("TMPDIR"))
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

// When the kernel is killed, nobody will end its commands but we. SO-17
func TestKilledKernelLeavesNothing(t *testing.T) {
	for _, background := range []string{"", "yes"} {
		for _, c := range runaways {
			t.Run(c.name+background, func(t *testing.T) {
				kernel := exec.Command(self(t))
				kernel.Env = append(os.Environ(), kernelVariable+"="+c.script+"sleep 1000", markVariable+"="+t.Name(),
					backgroundVariable+"="+background, "TMPDIR="+shortDir(t))
				kernel.Stderr = os.Stderr
				out, err := kernel.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, kernel.Start())
				line, err := bufio.NewReader(out).ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, "up\n", line)
				require.NoError(t, kernel.Process.Kill())
				_ = kernel.Wait()
				requireNoSurvivors(t)
			})
		}
	}
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

// SO-17
func TestKilledProviderLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			b := launch(t, "", nil)
			stream := b.invoke(t.Context(), c.script+"sleep 1000", nil)
			until(t, stream, "up\n")
			require.NotEmpty(t, survivors(t))
			require.NoError(t, syscall.Kill(b.pid, syscall.SIGKILL))
			requireNoSurvivors(t)
			require.Error(t, collect(stream).err)
		})
	}
}

// SO-17
func TestBackgroundEndsWithTheProvider(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, c := range runaways {
			t.Run(s.String()+"/"+c.name, func(t *testing.T) {
				b := launch(t, "", fields{"kill_grace_ms": 200})
				o := collect(b.invoke(t.Context(), c.script+"sleep 300 | cat", fields{"background": true}))
				require.Contains(t, o.last().GetResult().GetPayload().AsMap(), "session_id")
				require.NotEmpty(t, survivors(t))
				require.NoError(t, syscall.Kill(b.pid, s))
				requireNoSurvivors(t)
			})
		}
	}
	t.Run("orderly end", func(t *testing.T) {
		b := launch(t, "", nil)
		collect(b.invoke(t.Context(), "trap 'touch asked; exit' TERM; sleep 300 & wait", fields{"background": true}))
		b.end()
		requireNoSurvivors(t)
		require.FileExists(t, b.root+"/asked")
	})
}

// SO-17: an orderly end asks first and kills what does not listen.
func TestTerminatedProviderLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			b := launch(t, "", fields{"kill_grace_ms": 200})
			until(t, b.invoke(t.Context(), c.script+"sleep 1000", nil), "up\n")
			require.NoError(t, syscall.Kill(b.pid, syscall.SIGTERM))
			requireNoSurvivors(t)
		})
	}
}

func TestNothingOfTheProviderStays(t *testing.T) {
	b := launch(t, "", nil)
	keepers := childrenOf(t, b.pid)
	require.NotEmpty(t, keepers)
	o := collect(b.invoke(t.Context(), "seq 100000", nil))
	kept := o.last().GetResult().GetPayload().AsMap()["output_path"].(string)
	info, err := os.Stat(kept)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	b.end()
	for _, keeper := range keepers {
		require.Eventually(t, func() bool { return syscall.Kill(keeper, 0) != nil }, patience, 10*time.Millisecond)
	}
	require.FileExists(t, kept, "whoever made the call can still read it")
}

// SO-36
func TestProviderStartedWithSignalsIgnored(t *testing.T) {
	b := launch(t, `trap "" HUP PIPE INT QUIT TSTP USR1;`, nil)
	o := collect(b.invoke(t.Context(), "grep -E 'SigIgn|SigBlk' /proc/self/status", nil))
	require.Equal(t, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", ownSignals(o.stdout))
}

// A descriptor that somebody left open in the provider does not reach a command.
func TestProviderStartedWithDescriptorsOpen(t *testing.T) {
	b := launch(t, `exec 7</dev/null 9>/dev/null;`, nil)
	o := collect(b.invoke(t.Context(), "ls /proc/self/fd | tr '\n' ' '", nil))
	require.Equal(t, "0 1 2 3 ", o.stdout, "ls holds 3 itself")
}

// SO-21
func TestFloodIsBounded(t *testing.T) {
	b := launch(t, "", nil)
	before := b.memory("VmRSS")
	stream := b.invoke(t.Context(), "yes | head -c 200000000; exit 7", nil)
	total, other := 0, false
	for {
		response, err := stream.Recv()
		if err != nil {
			break
		}
		total += len(response.GetEvent().GetOutputChunk().GetData())
		if !other && total > 1<<20 {
			other = true
			require.Equal(t, "served\n", collect(b.invoke(t.Context(), "echo served", nil)).stdout)
		}
		if result := response.GetEvent().GetResult(); result != nil {
			require.Equal(t, 200_000_000.0, result.GetPayload().AsMap()["output_bytes"])
			require.LessOrEqual(t, len(result.GetPayload().AsMap()["output"].(string)), 30_000)
			info, err := os.Stat(result.GetPayload().AsMap()["output_path"].(string))
			require.NoError(t, err)
			require.EqualValues(t, 200_000_000, info.Size())
		}
	}
	require.Equal(t, 200_000_000, total)
	o := collect(b.invoke(t.Context(), "timeout 0.5 yes", nil))
	require.EqualValues(t, 124, o.last().GetResult().GetPayload().AsMap()["exit_code"])
	require.Less(t, b.memory("VmHWM")-before, 64<<20)
}

// SO-21: nobody slows a process in the background down, and it needs no more memory for that.
func TestBackgroundFloodIsBounded(t *testing.T) {
	b := launch(t, "", nil)
	before := b.memory("VmRSS")
	o := collect(b.invoke(t.Context(), "yes | head -c 100000000; echo; echo end; sleep 1000", fields{"background": true}))
	id := o.last().GetResult().GetPayload().AsMap()["session_id"]
	output := func(offset int) fields {
		o := collect(b.call(t.Context(), "process_output", fields{"id": id, "offset": offset}))
		return o.last().GetResult().GetPayload().AsMap()
	}
	require.Eventually(t, func() bool { return output(-4)["output"] == "end\n" }, patience, 10*time.Millisecond)
	require.Equal(t, "y\ny\n", output(50_000_000)["output"].(string)[:4])
	require.Less(t, b.memory("VmHWM")-before, 64<<20)
}

// SO-30
func TestSlowAndGoneReaders(t *testing.T) {
	b := launch(t, "", nil)
	idle := b.memory("VmRSS")
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	stream := b.invoke(ctx, "echo up; exec yes", nil)
	until(t, stream, "y\ny\n")
	// Nobody reads on: the command comes to a standstill, other calls do not.
	yes := survivors(t)
	require.Len(t, yes, 1)
	require.Eventually(t, func() bool {
		a := cpuTicks(t, yes[0])
		require.Equal(t, "served\n", collect(b.invoke(t.Context(), "sleep 0.2; echo served", nil)).stdout)
		return cpuTicks(t, yes[0]) == a
	}, patience, time.Millisecond)
	require.Less(t, b.memory("VmHWM")-idle, 64<<20)
	hangUp()
	requireNoSurvivors(t)
}

// SO-31
func TestNoDescriptorsAreLeft(t *testing.T) {
	b := launch(t, "", fields{"kill_grace_ms": 100})
	mixed := func(i int) {
		switch i % 5 {
		case 0:
			collect(b.invoke(t.Context(), "sleep 1000", fields{"timeout_ms": 20}))
		case 1:
			ctx, cancel := context.WithCancel(t.Context())
			stream := b.invoke(ctx, "setsid sleep 1000 & echo up; sleep 1000", nil)
			until(t, stream, "up\n")
			cancel()
			collect(stream)
		case 2:
			collect(b.invoke(t.Context(), "true", fields{"cwd": "none"}))
		case 3:
			o := collect(b.invoke(t.Context(), "seq 20000; sleep 1000", fields{"background": true}))
			id := o.last().GetResult().GetPayload().AsMap()["session_id"]
			collect(b.call(t.Context(), "process_signal", fields{"id": id, "signal": "SIGKILL"}))
		default:
			require.Equal(t, "in\n", collect(b.invoke(t.Context(), "cat; seq 10000 >&2", fields{"stdin": "in\n"})).stdout)
		}
	}
	// As many as end in the background before the oldest is forgotten.
	for i := range 5 * 17 {
		mixed(i)
	}
	requireNoSurvivors(t)
	before := b.descriptors()
	for i := range *calls {
		mixed(i)
	}
	requireNoSurvivors(t)
	require.Eventually(t, func() bool { return b.descriptors() <= before+5 }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return len(childrenOf(t, b.pid)) <= 2 }, patience, 10*time.Millisecond, "keepers are reused")
	for _, keeper := range childrenOf(t, b.pid) {
		// A process may be dead for a moment before its keeper has buried it.
		require.Eventually(t, func() bool { return len(childrenOf(t, keeper)) == 0 }, patience, 10*time.Millisecond, "no zombies")
	}
}

// SO-31: the same inside one process, where goroutines can be counted.
func TestNoGoroutinesAreLeft(t *testing.T) {
	h := start(t, fields{"kill_grace_ms": 100})
	mixed := func(i int) {
		switch i % 3 {
		case 0:
			bashCall(t, h, fields{"command": "sleep 1000", "timeout_ms": 20})
		case 1:
			cancelAt(t, h, "echo up; sleep 1000", "up\n")
		default:
			run(t, h, "true")
		}
	}
	for i := range 9 {
		mixed(i)
	}
	before := runtime.NumGoroutine()
	for i := range *calls / 3 {
		mixed(i)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+5 }, patience, 10*time.Millisecond)
}

// SO-18: what loses its parent is buried even where nobody else would, as process 1.
func TestNoZombiesAsProcessOne(t *testing.T) {
	unshare := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if err := exec.Command(unshare[0], append(unshare[1:], "true")...).Run(); err != nil {
		t.Skip("namespaces are not to be had: ", err)
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], self(t))...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TMPDIR="+shortDir(t))
	c, tool, err := connect(cmd, shortDir(t))
	t.Cleanup(c.Kill)
	require.NoError(t, err)
	b := &binary{t: t, tool: tool}
	_, err = tool.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, fields{})})
	require.NoError(t, err)
	for range 50 {
		collect(b.invoke(t.Context(), "(sleep 0.01 &) ; true", nil))
	}
	o := collect(b.invoke(t.Context(), `readlink /proc/1/exe; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null; echo end`, nil))
	require.Equal(t, self(t)+"\nend\n", o.stdout)
}

func (b *binary) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.pid))
	require.NoError(b.t, err)
	return len(entries)
}

// memory reads a size from the status of the provider, in bytes.
func (b *binary) memory(what string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.pid))
	require.NoError(b.t, err)
	m := regexp.MustCompile(what + `:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(b.t, m)
	n, err := strconv.Atoi(string(m[1]))
	require.NoError(b.t, err)
	return n << 10
}

// cpuTicks is how much a process has worked.
func cpuTicks(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(stat))[13:15], "+")
}

func childrenOf(t *testing.T, pid int) (found []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			require.NoError(t, err)
			found = append(found, child)
		}
	}
	return found
}
