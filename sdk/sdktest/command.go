package sdktest

import (
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func commandCall(c *toolv1.ToolCall) *slashcommandv1.SlashCommandCall {
	return &slashcommandv1.SlashCommandCall{Id: c.GetId(), Name: c.GetToolName(), Arguments: c.GetArguments(), CallContext: c.GetCallContext()}
}

// toolEvent gives a slash command's event the tool's form, so that tests read both alike.
func toolEvent(event *slashcommandv1.SlashCommandEvent) *toolv1.ToolEvent {
	switch e := event.GetEvent().(type) {
	case *slashcommandv1.SlashCommandEvent_OutputChunk_:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{
			Stream: e.OutputChunk.GetStream(), Data: e.OutputChunk.GetData(),
		}}}
	case *slashcommandv1.SlashCommandEvent_Progress_:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: &toolv1.ToolEvent_Progress{
			Message: e.Progress.GetMessage(), FractionComplete: e.Progress.FractionComplete,
		}}}
	case *slashcommandv1.SlashCommandEvent_PartialResult_:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{Payload: e.PartialResult.GetPayload()}}}
	case *slashcommandv1.SlashCommandEvent_ExitStatus_:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_ExitStatus_{ExitStatus: &toolv1.ToolEvent_ExitStatus{
			ExitCode: e.ExitStatus.GetExitCode(), Signal: e.ExitStatus.Signal,
		}}}
	case *slashcommandv1.SlashCommandEvent_Result:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: e.Result}}
	case *slashcommandv1.SlashCommandEvent_Error:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: e.Error}}
	default:
		return &toolv1.ToolEvent{}
	}
}
