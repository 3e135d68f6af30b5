package conformance_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

func nodeCancel(t *testing.T, path string) {
	n := openNotebook(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := n.call(t, "run", map[string]any{"command": `trap 'wait; echo bye; exit 7' TERM; (trap 'echo child; exit' TERM; echo up; sleep 1000 & wait) & wait`})
	stream, err := n.Tools.Invoke(ctx, &toolv1.InvokeRequest{Call: call})
	require.NoError(t, err)
	for printed := false; !printed; {
		r, err := stream.Recv()
		require.NoError(t, err)
		printed = strings.Contains(string(r.GetEvent().GetOutputChunk().GetData()), "up")
	}
	cancel()
	patience, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	report, err := n.Callbacks.Report(patience, call.GetId())
	require.NoError(t, err)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, report.GetError().GetCategory())
	details := report.GetError().GetDetails().AsMap()
	require.Equal(t, "child\nbye\n", details["output"], "the whole group is asked to end, and has the time for it")
	require.Equal(t, map[string]any{"exit_code": 7.0, "output_bytes": 13.0}, details["partial_result"])
	require.NotNil(t, last(n.invoke(t, "list_notes", nil)).GetResult(), "the provider lives on")
}

func nodeSecretStays(t *testing.T, path string) {
	n := openNotebook(t, path)
	require.NoError(t, os.WriteFile(filepath.Join(n.dir, "notes", "bad.md"), []byte{0xff}, 0o644))
	require.EqualValues(t, 1, last(n.invoke(t, "list_notes", nil)).GetResult().GetPayload().GetFields()["unreadable"].GetNumberValue())
	for _, event := range append(n.invoke(t, "list_notes", nil), n.invoke(t, "run", map[string]any{"command": "env"})...) {
		require.NotContains(t, event.String(), nodeSecret)
	}
}

// nodeCancelDeaf holds that nothing of a cancelled command lives on, not even what ignores that it is asked to end.
func nodeCancelDeaf(t *testing.T, path string) {
	n := openNotebook(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	end := n.startForever(ctx, t, `(trap '' TERM; exec sleep 1000) &`)
	cancel()
	end(t)
}

func nodeTerminate(t *testing.T, path string) {
	n := openNotebook(t, path)
	end := n.startForever(t.Context(), t, "")
	require.NoError(t, syscall.Kill(n.PID(), syscall.SIGTERM))
	end(t)
}

// nodeKilled holds that a command does not outlive its provider, even one that had no chance to do anything about it.
func nodeKilled(t *testing.T, path string) {
	n := openNotebook(t, path)
	end := n.startForever(t.Context(), t, "")
	require.NoError(t, syscall.Kill(n.PID(), syscall.SIGKILL))
	end(t)
}

// startForever runs a command that never ends by itself, after what it begins with. What it returns waits until every
// process of it has ended.
func (n *notebook) startForever(ctx context.Context, t *testing.T, begin string) func(*testing.T) {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	call := n.call(t, "run", map[string]any{"command": `exec 9>` + fifo + "\n" + begin + "\n" + `echo up >&9; sleep 1000 & sleep 1000`})
	_, err := n.Tools.Invoke(ctx, &toolv1.InvokeRequest{Call: call})
	require.NoError(t, err)
	held, err := os.OpenFile(fifo, os.O_RDONLY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = held.Close() })
	up := make([]byte, 3)
	_, err = io.ReadFull(held, up)
	require.NoError(t, err)
	return func(t *testing.T) {
		t.Helper()
		require.NoError(t, held.SetReadDeadline(time.Now().Add(time.Minute)))
		rest, err := io.ReadAll(held)
		require.NoError(t, err, "a process of the command lives on")
		require.Empty(t, rest)
	}
}

// nodeParentDies starts the provider below a shell that is killed, as a kernel on a system without PR_SET_PDEATHSIG
// would be. No kernel ever connects.
func nodeParentDies(t *testing.T, path string) {
	sockets := t.TempDir()
	shell := exec.Command("sh", "-c", `"$0" <&- & read _`, path)
	shell.Env = append(os.Environ(), plugin.MagicCookieKey+"="+plugin.MagicCookieValue, "PLUGIN_UNIX_SOCKET_DIR="+sockets)
	stdin, err := shell.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	shell.Stdout = write
	require.NoError(t, shell.Start())
	require.NoError(t, write.Close())
	require.NoError(t, read.SetReadDeadline(time.Now().Add(time.Minute)))
	out := bufio.NewReader(read)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^1\|1\|unix\|`+regexp.QuoteMeta(sockets)+`/[^|]+\|grpc\|\n$`, line, "without a certificate of the kernel's there is none of the provider's")
	require.NoError(t, shell.Process.Kill())
	_ = shell.Wait()
	rest, err := io.ReadAll(out)
	require.NoError(t, err, "the provider lives on without its parent")
	require.Empty(t, rest)
	left, err := os.ReadDir(sockets)
	require.NoError(t, err)
	require.Empty(t, left)
}
