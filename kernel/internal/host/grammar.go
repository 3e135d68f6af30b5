package host

import (
	"errors"
	"fmt"

	"github.com/agentco/agent/kernel/internal/schema"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// grammar holds a stream of events to its form: any number of chunks, progress and partial results, at most one exit
// status, then exactly one result or error, then nothing.
type grammar struct {
	exit   *toolv1.ToolEvent_ExitStatus
	result *toolv1.ToolResult
	// encoded is the payload of the result as it came, empty when that is not known.
	encoded string
	failed  *toolv1.ToolError
}

func (g *grammar) over() bool { return g.result != nil || g.failed != nil }

// accept takes the next event. It reports whether the event is one to show before the end, and what is wrong with it.
func (g *grammar) accept(event *toolv1.ToolEvent) (show bool, err error) {
	if g.over() {
		return false, fmt.Errorf("it sent %s after its last event", nameOf(event))
	}
	switch v := event.GetEvent().(type) {
	case *toolv1.ToolEvent_OutputChunk_, *toolv1.ToolEvent_Progress_:
		return true, nil
	case *toolv1.ToolEvent_PartialResult_:
		return true, checkValue("a partial_result", v.PartialResult.GetPayload())
	case *toolv1.ToolEvent_ExitStatus_:
		if g.exit != nil {
			return false, errors.New("it sent a second exit_status")
		}
		g.exit = v.ExitStatus
		return true, nil
	case *toolv1.ToolEvent_Result:
		g.result = v.Result // what is in it is checked when the call is over: once
		return false, nil
	case *toolv1.ToolEvent_Error:
		g.failed = v.Error
		return false, checkError(v.Error)
	default:
		return false, errors.New("it sent an event without content, or of a kind this kernel does not know")
	}
}

// checkValue refuses what protobuf can say and JSON cannot, such as a number that is none.
func checkValue(what string, s *structpb.Struct) error {
	if problems := schema.Arguments(nil, s); len(problems) > 0 {
		return fmt.Errorf("it sent %s that cannot be passed on: %s", what, schema.Describe(problems))
	}
	return nil
}

// checkError refuses errors that a provider cannot send: every error is of one category, and that a process has
// died is for the kernel to say.
func checkError(e *toolv1.ToolError) error {
	c := e.GetCategory()
	_, known := toolv1.ToolErrorCategory_name[int32(c)]
	if !known || c == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNSPECIFIED || c == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED {
		return fmt.Errorf("it sent an error of category %s with the message %s", c, quoted(e.GetMessage()))
	}
	return checkValue("details of an error ("+quoted(e.GetMessage())+")", e.GetDetails())
}

func nameOf(event *toolv1.ToolEvent) string {
	m := event.ProtoReflect()
	if field := m.WhichOneof(m.Descriptor().Oneofs().ByName("event")); field != nil {
		return string(field.Name())
	}
	return "an empty event"
}
