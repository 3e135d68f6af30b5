package hosttest

import (
	"context"
	"errors"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

type commands struct {
	slashcommandv1.UnimplementedSlashCommandServiceServer
	*fixture
}

func (c commands) GetCapabilities(context.Context, *slashcommandv1.GetCapabilitiesRequest) (*slashcommandv1.GetCapabilitiesResponse, error) {
	return &slashcommandv1.GetCapabilitiesResponse{ConfigSchema: c.schema(), Commands: []*slashcommandv1.SlashCommandSpec{
		{
			Name: "hello", Description: "Say hello.", Kind: reads, Risk: toolv1.RiskClass_RISK_CLASS_READ_ONLY,
			InputSchema: object(nil, map[string]*schemav1.Schema{"name": stringType}),
			Concurrency: &toolv1.ConcurrencySpec{Safe: true}, Idempotent: true,
		},
		{
			Name: "tidy", Description: "Tidy up.", Kind: writes, Risk: toolv1.RiskClass_RISK_CLASS_LOW, InputSchema: nothing,
			Streaming: true,
		},
	}}, nil
}

func (c commands) Configure(_ context.Context, r *slashcommandv1.ConfigureRequest) (*slashcommandv1.ConfigureResponse, error) {
	return &slashcommandv1.ConfigureResponse{}, c.configure(r.GetConfig())
}

func (c commands) Invoke(r *slashcommandv1.InvokeRequest, stream grpc.ServerStreamingServer[slashcommandv1.InvokeResponse]) error {
	send := func(e *slashcommandv1.SlashCommandEvent) error {
		return stream.Send(&slashcommandv1.InvokeResponse{Event: e})
	}
	progress := func(message string) error {
		return send(&slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_Progress_{
			Progress: &slashcommandv1.SlashCommandEvent_Progress{Message: message, FractionComplete: proto.Float64(0.5)}}})
	}
	if r.GetCall().GetName() == "tidy" {
		if err := progress("tidying"); err != nil {
			return err
		}
		<-stream.Context().Done()
		c.report(r.GetCall().GetId(), "one room is tidy", nil, "")
		return stream.Context().Err()
	}
	payload, err := structpb.NewStruct(map[string]any{"greeting": c.greeting() + " " + r.GetCall().GetArguments().GetFields()["name"].GetStringValue()})
	return errors.Join(err,
		progress("clearing the throat"),
		send(&slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_OutputChunk_{
			OutputChunk: &slashcommandv1.SlashCommandEvent_OutputChunk{Stream: toolv1.OutputStream_OUTPUT_STREAM_STDOUT, Data: []byte("hm\n")}}}),
		send(&slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_PartialResult_{
			PartialResult: &slashcommandv1.SlashCommandEvent_PartialResult{Payload: payload}}}),
		send(&slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_ExitStatus_{
			ExitStatus: &slashcommandv1.SlashCommandEvent_ExitStatus{ExitCode: 143, Signal: proto.String("SIGTERM")}}}),
		send(&slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}))
}

func (c commands) Render(_ context.Context, r *slashcommandv1.RenderRequest) (*slashcommandv1.RenderResponse, error) {
	return &slashcommandv1.RenderResponse{Tree: textTree("command %s", r.GetPayload())}, nil
}

func (c commands) Preview(_ context.Context, r *slashcommandv1.PreviewRequest) (*slashcommandv1.PreviewResponse, error) {
	return &slashcommandv1.PreviewResponse{Preview: textTree("would run /%s", r.GetCall().GetName())}, nil
}

func (c commands) Describe(context.Context, *slashcommandv1.DescribeRequest) (*slashcommandv1.DescribeResponse, error) {
	return &slashcommandv1.DescribeResponse{Producer: producer(commonv1.Category_CATEGORY_SLASHCOMMAND)}, nil
}
