package mcp

import (
	"fmt"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/schema"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/types/known/structpb"
)

// nothingSaid stands for a result that has nothing to show: models take silence for a failure.
const nothingSaid = "Done."

// metaError is where an error result holds its kind, for programs.
const metaError = "agent/error"

// result is how a call ended, as a tool's result. What failed is one too, as the protocol wants it, so that a model
// learns of it; it has no structured content, which would have to fit the output schema.
func result(op engine.Operation, end ending, large *parcels) *sdk.CallToolResult {
	if end.Status != engine.Completed {
		return failure(end)
	}
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: large.text(readable(end))}}}
	if op.Output.GetType() == schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
		r.StructuredContent = large.structured(structured{end.Result, end.Encoded})
	}
	return r
}

// structured is the payload of a result, as JSON.
type structured struct {
	payload *structpb.Struct
	encoded string // the same as codec.Marshal encodes it; empty when that is not known
}

func (s structured) appendJSON(out []byte) []byte {
	if s.encoded != "" {
		if out, ok := schema.AppendEncoded(out, s.encoded); ok {
			return out
		}
	}
	return schema.AppendJSON(out, s.payload)
}

// MarshalJSON is for the SDK.
func (s structured) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

// readable is a result as a model reads it well: as the provider renders it, without any markup.
func readable(end ending) string {
	text := paint.Painter{}.Tree(end.Rendering)
	if strings.TrimSpace(text) == "" {
		return nothingSaid
	}
	return text
}

func failure(end ending) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		IsError: true,
		Content: []sdk.Content{&sdk.TextContent{Text: explained(end)}},
		Meta: sdk.Meta{metaError: map[string]any{
			"category": category(end.Error), "status": string(end.Status), "retryable": end.Error.GetRetryable(),
		}},
	}
}

// explained says what kind of failure it is, what happened, and what there had been by then.
func explained(end ending) string {
	lines := []string{category(end.Error) + ": " + paint.Text(end.Error.GetMessage())}
	if end.ExitStatus != nil {
		lines = append(lines, exitText(end.ExitStatus))
	}
	if r := end.Report; r != nil && r.Note != "" && !strings.Contains(end.Error.GetMessage(), r.Note) {
		lines = append(lines, paint.Text(r.Note))
	}
	if end.Status == engine.Denied && end.DecidedBy == engine.BreakerName {
		lines = append(lines, fmt.Sprintf("It runs without a question where the server is started with --approve '%s', or a policy in agent.hcl allows it.", paint.Line(end.Operation)))
	}
	if end.printed != "" {
		lines = append(lines, "What it had printed:", strings.TrimSuffix(end.printed, "\n"))
	}
	return strings.Join(lines, "\n")
}

func exitText(e *toolv1.ToolEvent_ExitStatus) string {
	if e.GetSignal() != "" {
		return "ended by " + paint.Line(e.GetSignal())
	}
	return fmt.Sprintf("exit code %d", e.GetExitCode())
}

func category(e *toolv1.ToolError) string {
	return strings.ToLower(strings.TrimPrefix(e.GetCategory().String(), "TOOL_ERROR_CATEGORY_"))
}
