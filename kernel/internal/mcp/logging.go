package mcp

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tell logs the end of a call at the client, if it wants to hear of such things.
func (s *Server) tell(ctx context.Context, ss *sdk.ServerSession, end ending) {
	entry := map[string]any{"operation": end.Operation, "call": end.CallID, "status": string(end.Status), "took_ms": end.Took.Milliseconds()}
	level := sdk.LoggingLevel("info") //nolint:staticcheck // deprecated in the newest version only
	if end.Status != engine.Completed {
		level = "warning"
		entry["error"] = category(end.Error)
	}
	if end.DecidedBy != "" {
		entry["decided_by"] = end.DecidedBy
	}
	_ = ss.Log(ctx, &sdk.LoggingMessageParams{Level: level, Logger: "agent", Data: entry}) //nolint:staticcheck // deprecated in the newest version only
}

// levels are those of the protocol.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelled refuses a level that there is not: the SDK would take it, and tell everything.
func levelled(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		p, ok := r.GetParams().(*sdk.SetLoggingLevelParams) //nolint:staticcheck // deprecated in the newest version only
		if ok && p != nil && !slices.Contains(levels, string(p.Level)) {
			return nil, invalid(fmt.Errorf("there is no level %q: it is one of %s", p.Level, strings.Join(levels, ", ")))
		}
		return next(ctx, method, r)
	}
}

// fault is what a client learns of a fault of ours: of a tool it is a result, as of any other failure.
func (s *Server) fault(method string, fault any) (sdk.Result, error) {
	s.options.Log.Error("a fault of the kernel", "method", method, "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
	text := fmt.Sprintf("unknown: a fault of the kernel, which its log describes: %v", fault)
	if method == "tools/call" {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
}
