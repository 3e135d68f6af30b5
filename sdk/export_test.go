package sdk

import (
	"context"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Direct gives a function that runs one call of a configured provider without a transport, until the end of the test.
func Direct[C any](tb testing.TB, p *Provider[C], operation string, arguments *structpb.Struct) func() {
	tb.Helper()
	s := p.server(nil)
	if err := s.configure(context.Background(), nil); err != nil {
		panic(err)
	}
	tb.Cleanup(func() { _ = s.shutdown(context.Background(), errClosed) })
	return func() {
		call := &toolv1.ToolCall{Id: "1", ToolName: operation, Arguments: arguments}
		if err := s.invoke(context.Background(), false, call, func(*toolv1.ToolEvent) error { return nil }); err != nil {
			panic(err)
		}
	}
}
