package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agentco/agent/kernel/internal/engine"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// BenchmarkCall is a call over a pair of pipes, from the request's line to the answer's, which nobody decodes: "server" is
// ours with a provider behind it, "bare" the SDK's with one tool that has its answer ready, and "engine" the part of ours
// that has nothing to do with the protocol. Results have the text twice, as text and as structured content; "up" sends
// as much as it gets.
func BenchmarkCall(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"4KiB", 4 << 10}, {"1MiB", 1 << 20}} {
		down := fmt.Sprintf(`{"bytes":%d}`, size.bytes)
		up := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size.bytes))
		for _, way := range []struct{ name, tool, args string }{{"down", "big", down}, {"up", "echo", up}} {
			b.Run("bare/"+way.name+"/"+size.name, func(b *testing.B) { benchCall(b, bare(b, size.bytes), way.tool, way.args) })
			b.Run("server/"+way.name+"/"+size.name, func(b *testing.B) {
				benchCall(b, start(b, nil, nil).raw(b), "fixture_"+way.tool, way.args)
			})
			b.Run("engine/"+way.name+"/"+size.name, func(b *testing.B) { benchEngine(b, way.tool, way.args) })
		}
	}
}

func benchCall(b *testing.B, c *rawClient, tool, args string) {
	c.initialise("2025-06-18")
	line := toolCall(1, tool, args)
	for b.Loop() {
		c.send(line)
		if !c.lines.Scan() || len(c.lines.Bytes()) < 2000 {
			b.Fatal(c.lines.Text())
		}
	}
}

func benchEngine(b *testing.B, tool, args string) {
	e := start(b, nil, nil).engine
	s := e.Session(engine.SessionOptions{})
	op, err := e.Lookup("fixture", tool)
	require.NoError(b, err)
	in, err := decoded(json.RawMessage(args))
	require.NoError(b, err)
	for b.Loop() {
		o := s.Invoke(context.Background(), engine.Request{Operation: op, Arguments: in}, nil)
		if o.Status != engine.Completed || e.Render(context.Background(), op, o.Result) == nil {
			b.Fatal(o.Error)
		}
	}
}

// bare is the SDK's server on its own transport.
func bare(b *testing.B, bytes int) *rawClient {
	s := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	answer := strings.Repeat("x", bytes)
	for _, name := range []string{"big", "echo"} {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if err := (&structpb.Struct{}).UnmarshalJSON(r.Params.Arguments); err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer}}, StructuredContent: map[string]string{"text": answer}}, nil
		})
	}
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Run(context.Background(), &sdk.IOTransport{Reader: fromClient, Writer: toClient})
	}()
	b.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
		<-over
	})
	c := &rawClient{t: b, in: in, lines: bufio.NewScanner(out)}
	c.lines.Buffer(nil, 64<<20)
	return c
}

// BenchmarkStart is what a server adds to a start: to describe the tools, and to answer the first list.
func BenchmarkStart(b *testing.B) {
	k := start(b, nil, nil)
	ops := k.engine.Operations()
	o := k.server.options
	o.Operations = func() []engine.Operation { return ops }
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			New(o).Close()
		}
	})
	b.Run("list", func(b *testing.B) {
		c := k.raw(b)
		c.initialise("2025-06-18")
		for b.Loop() {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			_ = c.lines.Scan()
		}
	})
}
