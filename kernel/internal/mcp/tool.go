package mcp

import (
	"encoding/json"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool describes an operation to a client. Its own name is the title.
func tool(name string, op engine.Operation) *sdk.Tool {
	t := &sdk.Tool{
		Name: name, Title: paint.Line(op.String()), Description: description(op),
		InputSchema: inputSchema(op), Annotations: annotations(op),
	}
	if op.Output.GetType() == schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
		t.OutputSchema = asText(jsonSchema(op.Output))
	}
	return t
}

// inputSchema is an object, whatever the provider says: clients take nothing else.
func inputSchema(op engine.Operation) json.RawMessage {
	if op.Input.GetType() != schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
		return asText(jsonSchema(nil))
	}
	return asText(jsonSchema(op.Input))
}

// asText is a schema as it is sent each time somebody asks for the list.
func asText(schema map[string]any) json.RawMessage {
	text, err := json.Marshal(schema)
	if err != nil {
		panic(err) // it holds maps, lists, texts and booleans
	}
	return text
}

func description(op engine.Operation) string { return paint.Text(strings.TrimSpace(op.Description)) }

// annotations are what a client may show before it lets a call through. They are hints to it; what is asked about here,
// the policy decides.
func annotations(op engine.Operation) *sdk.ToolAnnotations {
	changes := op.Kind != toolv1.ToolKind_TOOL_KIND_DATA_SOURCE && op.Kind != toolv1.ToolKind_TOOL_KIND_INTERACTIVE
	destructive := changes && op.Risk != toolv1.RiskClass_RISK_CLASS_LOW
	open := changes && op.Risk >= toolv1.RiskClass_RISK_CLASS_HIGH
	return &sdk.ToolAnnotations{
		Title: paint.Line(op.String()), ReadOnlyHint: !changes, DestructiveHint: &destructive,
		IdempotentHint: op.Idempotent || !changes, OpenWorldHint: &open,
	}
}
