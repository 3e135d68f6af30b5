package hosttest

import (
	"bytes"
	"os"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// flakyInput is what the flaky tools take: "log" is a file that gets a line for each attempt, "category" the error of
// the first "times" of them.
var flakyInput = object([]string{"log", "category", "times"}, map[string]*schemav1.Schema{
	"log": stringType, "category": stringType, "times": numberType, "honest": typed(schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN),
})

func idempotent(t tool) tool {
	t.schema.Idempotent = true
	return t
}

// flaky fails for a passing reason, or with "honest" for one that it says will not pass.
func flaky(c call) error {
	log, err := os.OpenFile(c.text("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := log.WriteString("attempt\n"); err != nil {
		return err
	}
	made, err := os.ReadFile(c.text("log"))
	if err != nil {
		return err
	}
	if bytes.Count(made, []byte("\n")) > c.number("times") {
		return c.result(nil)
	}
	category := toolv1.ToolErrorCategory_value["TOOL_ERROR_CATEGORY_"+c.text("category")]
	return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory(category), Message: "not this time",
		Retryable: !c.GetArguments().GetFields()["honest"].GetBoolValue(),
	}}})
}
