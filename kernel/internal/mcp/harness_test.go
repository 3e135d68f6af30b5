package mcp

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest" //nolint:depguard // the provider of the tests, a process of its own
	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// kernel is an engine with the provider of hosttest, and a server on it.
type kernel struct {
	engine *engine.Engine
	server *Server
	kept   *notes
}

// start makes one; change adapts the options of the server.
func start(t testing.TB, rules []policy.Rule, change func(*Options)) *kernel {
	t.Helper()
	e, err := engine.Open(context.Background(), engine.Options{
		Providers: []engine.ProviderSpec{{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(hosttest.Good)}},
		Policies:  rules, ProjectRoot: t.TempDir(),
	})
	require.NoError(t, err)
	t.Cleanup(e.Close)
	k := &kernel{engine: e, kept: &notes{}}
	o := Options{Engine: e, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	o.Open = func(a gate.Approver) (*engine.Session, func(error), error) {
		k.kept.opened.Add(1)
		return e.Session(engine.SessionOptions{Approver: a, Journal: k.kept}), func(error) { k.kept.opened.Done() }, nil
	}
	if change != nil {
		change(&o)
	}
	k.server = New(o)
	t.Cleanup(k.server.Close)
	return k
}

// pipe serves one client over a pair of pipes: what it writes to, what it reads from, and the end of the serving.
func (k *kernel) pipe(t testing.TB) (in io.WriteCloser, out io.ReadCloser, ended chan error) {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		ended <- k.server.ServeStdio(t.Context(), fromClient, toClient, k.engine.Kill)
		_ = toClient.Close()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
	})
	return in, out, ended
}

// connect has the SDK's client talk to the server over pipes.
func (k *kernel) connect(t testing.TB, o *sdk.ClientOptions, version string) *sdk.ClientSession {
	t.Helper()
	in, out, _ := k.pipe(t)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o)
	s, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func text(t testing.TB, r *sdk.CallToolResult) string {
	t.Helper()
	require.Len(t, r.Content, 1)
	content, ok := r.Content[0].(*sdk.TextContent)
	require.True(t, ok)
	return content.Text
}

func callTool(t testing.TB, s *sdk.ClientSession, tool string, args any) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	return r
}

// notes is a journal in memory, of calls alone.
type notes struct {
	engine.Journal
	opened sync.WaitGroup
	mu     sync.Mutex
	ended  []engine.Outcome
}

func (n *notes) Called(engine.CalledNote)         {}
func (n *notes) Planned(string, *planv1.PlanItem) {}
func (n *notes) Event(string, *toolv1.ToolEvent)  {}
func (n *notes) Flush(context.Context) error      { return nil }
func (n *notes) Emitted(engine.Emission) (string, int64, error) {
	return "", 0, engine.ErrNotKept
}
func (n *notes) Ended(o engine.Outcome) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = append(n.ended, o)
	return nil
}

func (n *notes) outcomes() []engine.Outcome {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]engine.Outcome(nil), n.ended...)
}
