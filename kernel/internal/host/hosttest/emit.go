package hosttest

import (
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

// emit has the kernel keep an event of the kind, whose payload is the text, and returns where it was put.
func emit(c call) error {
	kernel, err := c.callback()
	if err != nil {
		return err
	}
	result, err := kernel.Emit(c.ctx, &kernelv1.EmitRequest{
		SessionId: c.GetCallContext().GetSessionId(), Kind: kernelv1.EventKind(kernelv1.EventKind_value["EVENT_KIND_"+c.text("kind")]),
		SchemaVersion: plugin.SchemaVersion, Payload: []byte(c.text("text")),
	})
	if err != nil {
		return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, err.Error())
	}
	return c.result(map[string]any{"id": result.GetId(), "sequence": result.GetSequence()})
}
