package sdk

import (
	"context"

	"google.golang.org/grpc"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// commandService is the server as slashcommand.v1 sees it.
type commandService struct {
	slashcommandv1.UnimplementedSlashCommandServiceServer
	*server
}

func (s commandService) GetCapabilities(context.Context, *slashcommandv1.GetCapabilitiesRequest) (*slashcommandv1.GetCapabilitiesResponse, error) {
	s.callbacks.prepare()
	response := &slashcommandv1.GetCapabilitiesResponse{ConfigSchema: s.schema}
	for _, op := range s.operations {
		if about := op.about(); about.command {
			response.Commands = append(response.Commands, about.slashCommand())
		}
	}
	return response, nil
}

func (s commandService) Configure(ctx context.Context, r *slashcommandv1.ConfigureRequest) (*slashcommandv1.ConfigureResponse, error) {
	if err := s.configure(ctx, r.GetConfig()); err != nil {
		return nil, s.refusal(err)
	}
	return &slashcommandv1.ConfigureResponse{}, nil
}

func (s commandService) Invoke(r *slashcommandv1.InvokeRequest, stream grpc.ServerStreamingServer[slashcommandv1.InvokeResponse]) error {
	return s.invoke(stream.Context(), true, toolCall(r.GetCall()), func(event *toolv1.ToolEvent) error {
		return stream.Send(&slashcommandv1.InvokeResponse{Event: commandEvent(event)})
	})
}

func (s commandService) Render(ctx context.Context, r *slashcommandv1.RenderRequest) (*slashcommandv1.RenderResponse, error) {
	tree, err := s.render(ctx, true, r.GetPayload(), r.GetSchemaVersion())
	if err != nil {
		return nil, err
	}
	return &slashcommandv1.RenderResponse{Tree: tree}, nil
}

func (s commandService) Preview(ctx context.Context, r *slashcommandv1.PreviewRequest) (*slashcommandv1.PreviewResponse, error) {
	tree, err := s.preview(ctx, true, toolCall(r.GetCall()))
	if err != nil {
		return nil, err
	}
	return &slashcommandv1.PreviewResponse{Preview: tree}, nil
}

func (s commandService) Describe(ctx context.Context, _ *slashcommandv1.DescribeRequest) (*slashcommandv1.DescribeResponse, error) {
	return &slashcommandv1.DescribeResponse{Producer: s.describe(ctx, commonv1.Category_CATEGORY_SLASHCOMMAND)}, nil
}

// toolCall is a slash command's call in the form that both services share below.
func toolCall(c *slashcommandv1.SlashCommandCall) *toolv1.ToolCall {
	return &toolv1.ToolCall{Id: c.GetId(), ToolName: c.GetName(), Arguments: c.GetArguments(), CallContext: c.GetCallContext()}
}

// commandEvent is a tool's event as slashcommand.v1 has it: the same shapes under other names.
func commandEvent(event *toolv1.ToolEvent) *slashcommandv1.SlashCommandEvent {
	out := &slashcommandv1.SlashCommandEvent{}
	switch e := event.GetEvent().(type) {
	case *toolv1.ToolEvent_OutputChunk_:
		out.Event = &slashcommandv1.SlashCommandEvent_OutputChunk_{OutputChunk: &slashcommandv1.SlashCommandEvent_OutputChunk{
			Stream: e.OutputChunk.GetStream(), Data: e.OutputChunk.GetData(),
		}}
	case *toolv1.ToolEvent_Progress_:
		out.Event = &slashcommandv1.SlashCommandEvent_Progress_{Progress: &slashcommandv1.SlashCommandEvent_Progress{
			Message: e.Progress.GetMessage(), FractionComplete: e.Progress.FractionComplete,
		}}
	case *toolv1.ToolEvent_PartialResult_:
		out.Event = &slashcommandv1.SlashCommandEvent_PartialResult_{PartialResult: &slashcommandv1.SlashCommandEvent_PartialResult{
			Payload: e.PartialResult.GetPayload(),
		}}
	case *toolv1.ToolEvent_ExitStatus_:
		out.Event = &slashcommandv1.SlashCommandEvent_ExitStatus_{ExitStatus: &slashcommandv1.SlashCommandEvent_ExitStatus{
			ExitCode: e.ExitStatus.GetExitCode(), Signal: e.ExitStatus.Signal,
		}}
	case *toolv1.ToolEvent_Result:
		out.Event = &slashcommandv1.SlashCommandEvent_Result{Result: e.Result}
	case *toolv1.ToolEvent_Error:
		out.Event = &slashcommandv1.SlashCommandEvent_Error{Error: e.Error}
	}
	return out
}
