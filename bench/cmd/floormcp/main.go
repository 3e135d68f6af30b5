// Command floormcp is the smallest MCP server on the official SDK that does the work.
//
//	floormcp                 does it in its own process
//	floormcp -plugin BINARY  has a go-plugin provider read and run, with mutual TLS: the whole chain of a bridge, bare
//	floormcp -memory         reads only, without the SDK, by answers that it made before: what remains is the client's cost
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentco/agent/bench/internal/floor"
)

func main() {
	binary := flag.String("plugin", "", "`path` of the provider that reads and runs")
	memory := flag.Bool("memory", false, "answer reads from memory, without the SDK")
	flag.Parse()
	err := error(nil)
	if *memory {
		err = serveMemory(os.Stdin, os.Stdout)
	} else {
		err = serve(*binary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "floormcp:", err)
		os.Exit(1)
	}
}

func serve(binary string) error {
	w := worker{}
	if binary != "" {
		provider, err := floor.Start(binary)
		if err != nil {
			return err
		}
		defer provider.Kill()
		w.provider = provider
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "floor", Version: "1"}, nil)
	for _, tool := range []string{"read", "write", "edit", "list", "walk", "grep", "run"} {
		s.AddTool(&mcp.Tool{Name: tool, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var a arguments
			if err := json.Unmarshal(r.Params.Arguments, &a); err != nil {
				return nil, err
			}
			text, err := w.do(ctx, tool, a, progress(ctx, r))
			if err != nil {
				text = err.Error()
			}
			return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	return s.Run(context.Background(), &mcp.StdioTransport{MaxLineLength: -1})
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
