package sdk_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

type benchIn struct {
	Path  string   `json:"path"`
	Limit int      `json:"limit" default:"2000" min:"1"`
	Mode  string   `json:"mode" default:"files" enum:"files,count"`
	Names []string `json:"names,omitempty"`
}

type benchOut struct {
	Lines []string `json:"lines"`
	Total int      `json:"total"`
}

func benched() *sdk.Provider[struct{}] {
	p := sdk.New[struct{}]("bench", "For measuring.")
	sdk.Tool(p, "do", "Does it.", func(_ context.Context, _ *sdk.Call[struct{}], in benchIn) (benchOut, error) {
		return benchOut{Lines: in.Names, Total: in.Limit}, nil
	}).ReadOnly().Streaming().Render(func(in benchIn, _ benchOut) string { return in.Path })
	sdk.Tool(p, "stream", "Streams a megabyte.", func(_ context.Context, c *sdk.Call[struct{}], _ benchIn) (benchOut, error) {
		_, err := c.Stdout().Write(make([]byte, 1<<20))
		return benchOut{}, err
	}).ReadOnly().Streaming()
	return p
}

var benchArguments = map[string]any{"path": "a/b/c.txt", "names": []string{"one", "two", "three"}}

func BenchmarkCall(b *testing.B) {
	bench(b, sdktest.Start(b, benched(), nil))
}

func BenchmarkCallOfAProcess(b *testing.B) {

	bench(b, sdktest.StartProcess(b, command("bench"), nil))
}

func bench(b *testing.B, h *sdktest.Harness) {
	b.Helper()
	b.Run("small", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := h.Call(b.Context(), "do", benchArguments); r.Err != nil || r.Status != nil {
				b.Fatal(r.Err, r.Status)
			}
		}
	})
	b.Run("megabyte", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			if r := h.Call(b.Context(), "stream", benchArguments); len(r.Stdout) != 1<<20 {
				b.Fatal(r.Err, r.Status)
			}
		}
	})
}

// TestACallAllocatesLittle bounds what the SDK itself allocates for a call, gRPC and test apart.
func TestACallAllocatesLittle(t *testing.T) {
	arguments, err := structpb.NewStruct(map[string]any{"path": "a", "names": []any{"one", "two"}})
	require.NoError(t, err)
	invoke := sdk.Direct(t, benched(), "do", arguments)
	invoke()
	allocated := testing.AllocsPerRun(200, invoke)
	require.Less(t, allocated, 50.0)
}

func BenchmarkCallWithoutTransport(b *testing.B) {
	arguments := object(b, map[string]any{"path": "a", "names": []any{"one", "two"}})
	invoke := sdk.Direct(b, benched(), "do", arguments)
	b.ReportAllocs()
	for b.Loop() {
		invoke()
	}
}
