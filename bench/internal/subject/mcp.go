package subject

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is an MCP server behind the official SDK's client.
type server struct {
	peer    *Peer
	vars    Vars
	process *process
	session *mcp.ClientSession
	tokens  atomic.Int64
	mu      sync.Mutex
	sinks   map[string]func(string) // by progress token
}

// dialMCP starts a server and introduces itself, over stdio or over HTTP.
func dialMCP(ctx context.Context, p *Peer, vars Vars) (*server, error) {
	s := &server{peer: p, vars: vars, sinks: map[string]func(string){}}
	var transport mcp.Transport
	var err error
	if p.Kind == "http" {
		var address string
		if s.process, address, err = startHTTP(ctx, p, vars); err == nil {
			transport = &mcp.StreamableClientTransport{Endpoint: address}
		}
	} else if s.process, err = start(p, vars); err == nil {
		transport = &mcp.IOTransport{Reader: s.process.out, Writer: s.process.in, MaxLineLength: -1}
	}
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, ProgressNotificationHandler: s.progress, // no roots: a server keeps to its own
	})
	if s.session, err = client.Connect(ctx, transport, nil); err != nil {
		s.process.close()
		return nil, fmt.Errorf("%w; it says: %s", err, s.process.stderr.String())
	}
	return s, nil
}

func (s *server) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	s.mu.Lock()
	sink := s.sinks[fmt.Sprint(r.Params.ProgressToken)]
	s.mu.Unlock()
	if sink != nil {
		sink(r.Params.Message)
	}
}

func (s *server) Name() string       { return s.peer.Name }
func (s *server) PID() int           { return s.process.cmd.Process.Pid }
func (s *server) Can(op string) bool { return s.peer.Ops[op] != nil }
func (s *server) Ended() bool        { return s.process.hasEnded() }

func (s *server) Close() {
	s.process.close()
	_ = s.session.Close()
}

func (s *server) Batch(ctx context.Context, op string, b Batch) (Samples, error) {
	in, out := s.process.wireIn.Load(), s.process.wireOut.Load()
	samples, err := batch(ctx, s, s.peer.Ops[op], b)
	samples.WireIn, samples.WireOut = int(s.process.wireIn.Load()-in), int(s.process.wireOut.Load()-out)
	return samples, err
}

// tools counts what the server offers.
func (s *server) tools(ctx context.Context) (int, error) {
	r, err := s.session.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	return len(r.Tools), nil
}

func (s *server) call(ctx context.Context, step *Step, vars Vars, out func(string)) (func() string, error) {
	params := &mcp.CallToolParams{Name: step.Tool, Arguments: vars.PutIn(step.Args)}
	if out != nil {
		token := fmt.Sprint("t", s.tokens.Add(1))
		params.SetProgressToken(token)
		s.mu.Lock()
		s.sinks[token] = out
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.sinks, token)
			s.mu.Unlock()
		}()
	}
	r, err := s.session.CallTool(ctx, params)
	if err != nil {
		return nil, err
	}
	text := func() string {
		var b strings.Builder
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				b.WriteString(t.Text)
			}
		}
		return b.String()
	}
	if r.IsError {
		return nil, errors.New(Cut(text(), 300))
	}
	return text, nil
}
