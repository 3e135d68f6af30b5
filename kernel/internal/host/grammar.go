package host

import (
	"errors"
	"fmt"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// grammar holds a stream of events to its form: any number of chunks, progress and partial results, at most one exit
// status, then exactly one result or error, then nothing.
type grammar struct {
	exit   *toolv1.ToolEvent_ExitStatus
	result *toolv1.ToolResult
	failed *toolv1.ToolError
}

func (g *grammar) over() bool { return g.result != nil || g.failed != nil }

// accept takes the next event. It reports whether the event is one to show before the end, and what is wrong with it.
func (g *grammar) accept(event *toolv1.ToolEvent) (show bool, err error) {
	if g.over() {
		return false, fmt.Errorf("it sent %s after its last event", nameOf(event))
	}
	switch v := event.GetEvent().(type) {
	case *toolv1.ToolEvent_OutputChunk_, *toolv1.ToolEvent_Progress_, *toolv1.ToolEvent_PartialResult_:
		return true, nil
	case *toolv1.ToolEvent_ExitStatus_:
		if g.exit != nil {
			return false, errors.New("it sent a second exit_status")
		}
		g.exit = v.ExitStatus
		return true, nil
	case *toolv1.ToolEvent_Result:
		g.result = v.Result
		return false, nil
	case *toolv1.ToolEvent_Error:
		g.failed = v.Error
		return false, checkCategory(v.Error)
	default:
		return false, errors.New("it sent an event without content, or of a kind this kernel does not know")
	}
}

// checkCategory refuses errors that a provider cannot send: every error is of one category, and that a process has
// died is for the kernel to say.
func checkCategory(e *toolv1.ToolError) error {
	c := e.GetCategory()
	_, known := toolv1.ToolErrorCategory_name[int32(c)]
	if !known || c == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNSPECIFIED || c == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED {
		return fmt.Errorf("it sent an error of category %s with the message %s", c, quoted(e.GetMessage()))
	}
	return nil
}

func nameOf(event *toolv1.ToolEvent) string {
	m := event.ProtoReflect()
	if field := m.WhichOneof(m.Descriptor().Oneofs().ByName("event")); field != nil {
		return string(field.Name())
	}
	return "an empty event"
}
