package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// tee keeps what goes through it.
type tee struct {
	io.ReadCloser
	kept *strings.Builder
}

func (t tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.kept.Write(p[:n])
	return n, err
}

// assistant is agent mcp with a client.
type assistant struct {
	*mcp.ClientSession
	cmd    *exec.Cmd
	in     io.WriteCloser
	stdout *strings.Builder
	dir    string
	said   chan string // what the calls told while they ran
}

func serveMCP(t *testing.T, mark, version string, o *mcp.ClientOptions, args ...string) *assistant {
	t.Helper()
	a := &assistant{cmd: agentIn(t, mark, append([]string{"mcp"}, args...)...), stdout: &strings.Builder{}, said: make(chan string, 100)}
	a.dir = a.cmd.Dir
	a.cmd.Stderr = t.Output()
	in, err := a.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := a.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, a.cmd.Start())
	t.Cleanup(func() { _ = a.cmd.Process.Kill() })
	if o == nil {
		o = &mcp.ClientOptions{}
	}
	o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		select {
		case a.said <- r.Params.Message:
		default:
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, o)
	a.in = in
	a.ClientSession, err = client.Connect(t.Context(), &mcp.IOTransport{Reader: tee{out, a.stdout}, Writer: in}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	return a
}

func (a *assistant) bash(ctx context.Context, command string) (*mcp.CallToolResult, error) {
	p := &mcp.CallToolParams{Name: "bash_bash", Arguments: map[string]any{"command": command}}
	p.SetProgressToken("p")
	return a.CallTool(ctx, p)
}

func (a *assistant) until(t *testing.T, said string) {
	t.Helper()
	for {
		select {
		case text := <-a.said:
			if strings.Contains(text, said) {
				return
			}
		case <-time.After(time.Minute):
			require.Fail(t, "it was never said", said)
		}
	}
}

// The whole way, with the real providers, under either version of the protocol.
func TestMCP(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			var asked string
			a := serveMCP(t, "", version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = r.Params.Message
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
			}}, "--log-level", "debug", "--approve", "bash.*")
			list, err := a.ListTools(t.Context(), nil)
			require.NoError(t, err)
			require.Greater(t, len(list.Tools), 10)
			r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "filesystem_write_file", Arguments: map[string]any{"path": "a.txt", "content": "hello\n"}})
			require.NoError(t, err)
			require.False(t, r.IsError, "%v", r.Content)
			require.Contains(t, asked, "a.txt")
			require.Contains(t, asked, "│ +hello")
			require.FileExists(t, filepath.Join(a.dir, "a.txt"))
			r, err = a.bash(t.Context(), "echo to stdout; echo to stderr >&2; cat; exit 3") // whose stdin is not the client's
			require.NoError(t, err)
			require.False(t, r.IsError, "%v", r.Content)
			text := r.Content[0].(*mcp.TextContent).Text
			for _, want := range []string{"to stdout\n", "to stderr\n", "exit code 3"} {
				require.Contains(t, text, want)
			}
			prompts, err := a.ListPrompts(t.Context(), nil)
			require.NoError(t, err)
			require.NotEmpty(t, prompts.Prompts)
			require.NoError(t, a.in.Close())
			require.NoError(t, a.cmd.Wait())
			for line := range strings.Lines(a.stdout.String()) { // M01
				var m struct{ JSONRPC string }
				require.NoError(t, json.Unmarshal([]byte(line), &m), line)
				require.Equal(t, "2.0", m.JSONRPC)
			}
		})
	}
}

// M06: the server does not outlive its client, whatever runs; nor does anything that it has started.
func TestMCPEndsWithItsClient(t *testing.T) {
	t.Run("nothing on stdin", func(t *testing.T) {
		cmd := agentIn(t, "", "mcp")
		began := time.Now()
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Empty(t, out)
		require.Less(t, time.Since(began), time.Minute)
	})
	for name, end := range map[string]func(*assistant) error{
		"stdin is closed":      func(a *assistant) error { return a.in.Close() },
		"the server is ended":  func(a *assistant) error { return a.cmd.Process.Signal(syscall.SIGTERM) },
		"the server is killed": func(a *assistant) error { return a.cmd.Process.Kill() },
	} {
		for what, command := range map[string]string{
			"a command that waits":      "echo up; sleep 1000",
			"one that ignores the TERM": "trap '' TERM; (setsid sleep 1000 &); echo up; while :; do sleep 1; done",
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				mark := strings.ReplaceAll(t.Name(), " ", "-")
				a := serveMCP(t, mark, "", nil, "--yes")
				go func() { _, _ = a.bash(t.Context(), command) }()
				a.until(t, "up")
				require.NotEmpty(t, left(mark))
				ended := time.Now()
				require.NoError(t, end(a))
				_ = a.cmd.Wait()
				require.Less(t, time.Since(ended), time.Minute)
				requireNothingLeft(t, mark)
				t.Logf("nothing was left after %v", time.Since(ended).Round(time.Millisecond))
			})
		}
	}
}

// A client has the tools of the profile that agent.hcl names now, not of the one it named at the start.
func TestMCPFollowsTheProfile(t *testing.T) {
	changed := make(chan struct{}, 10)
	a := serveMCP(t, "", "2025-06-18", &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
		changed <- struct{}{}
	}})
	read := &mcp.CallToolParams{Name: "filesystem_read_file", Arguments: map[string]any{"path": "agent.hcl"}}
	r, err := a.CallTool(t.Context(), read)
	require.NoError(t, err)
	require.False(t, r.IsError, "%v", r.Content)
	file := filepath.Join(a.dir, "agent.hcl")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("nonsense"), 0o644)) // a moment of nonsense changes nothing
	require.NoError(t, os.WriteFile(file, append(before, "\nagent_profile \"default\" {\n  tools = [\"bash.*\", \"filesystem.stat\"]\n}\n"...), 0o644))
	<-changed
	list, err := a.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "bash_bash" }))
	require.False(t, slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == read.Name }))
	_, err = a.CallTool(t.Context(), read)
	require.ErrorContains(t, err, "unknown tool")
	require.NoError(t, a.in.Close())
	require.NoError(t, a.cmd.Wait())
}

// Eight clients at once lose nothing, with everything logged. MCP_LOAD_CALLS sets how many calls each makes; what they took is
// logged.
func TestMCPLoad(t *testing.T) {
	calls := 10
	if set, err := strconv.Atoi(os.Getenv("MCP_LOAD_CALLS")); err == nil {
		calls = set
	}
	const clients = 8
	a := listenMCP(t)
	require.NoError(t, os.WriteFile(filepath.Join(a.cmd.Dir, "data.txt"), bytes.Repeat([]byte("0123456789abcde\n"), 256), 0o644))
	took := make([][]time.Duration, clients)
	var wait sync.WaitGroup
	for c := range clients {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: a.url}, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		wait.Go(func() {
			for range calls {
				began := time.Now()
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "filesystem_read_file", Arguments: map[string]any{"path": "data.txt"}})
				if err != nil || r.IsError || len(r.Content[0].(*mcp.TextContent).Text) < 4096 {
					t.Errorf("a call was lost: %v", err)
					return
				}
				took[c] = append(took[c], time.Since(began))
			}
		})
	}
	wait.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	require.Len(t, all, clients*calls)
	at := func(share float64) time.Duration {
		return all[min(len(all)-1, int(share*float64(len(all))))].Round(10 * time.Microsecond)
	}
	t.Logf("%d calls: p50 %v, p90 %v, p99 %v, p99.9 %v, longest %v", len(all), at(.5), at(.9), at(.99), at(.999), at(1))
}

// listener is agent mcp over HTTP.
type listener struct {
	cmd    *exec.Cmd
	url    string
	stderr io.Reader
	stdout strings.Builder
}

func listenMCP(t *testing.T, args ...string) *listener {
	t.Helper()
	l := &listener{cmd: agentIn(t, "", append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)}
	l.cmd.Env = append(l.cmd.Env, "TOKEN=correct-horse-battery")
	stderr, err := l.cmd.StderrPipe()
	require.NoError(t, err)
	l.cmd.Stdout = &l.stdout
	require.NoError(t, l.cmd.Start())
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
	})
	lines := bufio.NewScanner(stderr)
	for l.url == "" && lines.Scan() {
		_, l.url, _ = strings.Cut(lines.Text(), "serving on ")
	}
	require.NotEmpty(t, l.url)
	l.stderr = stderr
	return l
}

// Over HTTP, until somebody ends it.
func TestMCPOverHTTP(t *testing.T) {
	l := listenMCP(t, "--token-env", "TOKEN")
	status := func(token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	require.Equal(t, 401, status("wrong"))
	require.Equal(t, 400, status("correct-horse-battery"), "a stream without a session")
	require.NoError(t, l.cmd.Process.Signal(syscall.SIGTERM))
	rest, _ := io.ReadAll(l.stderr)
	require.NoError(t, l.cmd.Wait(), "%s", rest)
	require.Empty(t, l.stdout.String())
}

// A server that is asked to end has not been cancelled.
func TestMCPOverHTTPIsEndedWithCtrlC(t *testing.T) {
	l := listenMCP(t)
	require.NoError(t, l.cmd.Process.Signal(syscall.SIGINT))
	rest, _ := io.ReadAll(l.stderr)
	require.NoError(t, l.cmd.Wait(), "%s", rest)
	require.Contains(t, string(rest), "ending the server; press Ctrl-C again to kill")
	require.NotContains(t, string(rest), "cancelling")
}
