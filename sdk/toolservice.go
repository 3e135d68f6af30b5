package sdk

import (
	"context"

	"google.golang.org/grpc"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// toolService is the server as tool.v1 sees it.
type toolService struct {
	toolv1.UnimplementedToolServiceServer
	*server
}

func (s toolService) GetSchema(context.Context, *toolv1.GetSchemaRequest) (*toolv1.GetSchemaResponse, error) {
	s.callbacks.prepare()
	response := &toolv1.GetSchemaResponse{ConfigSchema: s.schema}
	for _, op := range s.operations {
		if about := op.about(); !about.command {
			response.Tools = append(response.Tools, about.tool())
		}
	}
	return response, nil
}

func (s toolService) Configure(ctx context.Context, r *toolv1.ConfigureRequest) (*toolv1.ConfigureResponse, error) {
	if err := s.configure(ctx, r.GetConfig()); err != nil {
		return nil, s.refusal(err)
	}
	return &toolv1.ConfigureResponse{}, nil
}

func (s toolService) Invoke(r *toolv1.InvokeRequest, stream grpc.ServerStreamingServer[toolv1.InvokeResponse]) error {
	return s.invoke(stream.Context(), false, r.GetCall(), func(event *toolv1.ToolEvent) error {
		return stream.Send(&toolv1.InvokeResponse{Event: event})
	})
}

func (s toolService) Render(ctx context.Context, r *toolv1.RenderRequest) (*toolv1.RenderResponse, error) {
	tree, err := s.render(ctx, false, r.GetPayload(), r.GetSchemaVersion())
	if err != nil {
		return nil, err
	}
	return &toolv1.RenderResponse{Tree: tree}, nil
}

func (s toolService) Preview(ctx context.Context, r *toolv1.PreviewRequest) (*toolv1.PreviewResponse, error) {
	tree, err := s.preview(ctx, false, r.GetCall())
	if err != nil {
		return nil, err
	}
	return &toolv1.PreviewResponse{Preview: tree}, nil
}

func (s toolService) Describe(ctx context.Context, _ *toolv1.DescribeRequest) (*toolv1.DescribeResponse, error) {
	return &toolv1.DescribeResponse{Producer: s.describe(ctx, commonv1.Category_CATEGORY_TOOL)}, nil
}
