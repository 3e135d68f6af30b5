// Package bare is servers of MCP that do the work and nothing else: on the official SDK, with or without a provider behind
// them, or without the SDK by answers that are in memory.
package bare

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentco/agent/bench/internal/floor"
)

// Server is a server on the official SDK. The zero one does the work in its own process.
type Server struct {
	// Provider is the path of the go-plugin provider that reads and runs; empty for none.
	Provider string
	// Twice gives an answer as text and as structured content, as the protocol advises.
	Twice bool
}

// Serve answers on stdin and stdout until the input ends.
func (s *Server) Serve() error {
	w := worker{}
	if s.Provider != "" {
		provider, err := floor.Start(s.Provider)
		if err != nil {
			return err
		}
		defer provider.Kill()
		w.provider = provider
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "floor", Version: "1"}, nil)
	for _, tool := range []string{"read", "write", "edit", "list", "walk", "grep", "run"} {
		server.AddTool(&mcp.Tool{Name: tool, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var a arguments
			if err := json.Unmarshal(r.Params.Arguments, &a); err != nil {
				return nil, err
			}
			text, err := w.do(ctx, tool, a, progress(ctx, r))
			if err != nil {
				text = err.Error()
			}
			return s.result(text, err != nil), nil
		})
	}
	return server.Run(context.Background(), &mcp.StdioTransport{MaxLineLength: -1})
}

func (s *Server) result(text string, failed bool) *mcp.CallToolResult {
	r := &mcp.CallToolResult{IsError: failed, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	if s.Twice && !failed {
		r.StructuredContent = struct {
			Content string `json:"content"`
		}{text}
	}
	return r
}

// progress sends output as it comes, to a client that wants it.
func progress(ctx context.Context, r *mcp.CallToolRequest) func([]byte) error {
	token, n := r.Params.GetProgressToken(), 0.0
	return func(b []byte) error {
		if token == nil {
			return nil
		}
		n++
		return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: string(b)})
	}
}
