package host

import (
	"context"
	"fmt"

	"github.com/agentco/agent/proto/codec"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"
)

// Call is one call, as a provider gets it.
type Call struct {
	ID        string
	Operation Operation
	Arguments *structpb.Struct
	Context   *commonv1.CallContext
	// Attempt is how often the call has been made, this time included; zero is the first too.
	Attempt int
	// Render says that the result is going to be shown, so that Reply.Rendering is of use.
	Render bool
}

// category is one service of a provider. Tools and commands differ in their messages and in nothing else, so the
// rest of the kernel sees both through this.
type category interface {
	id() commonv1.Category
	// offer and describe put the answer into their own part of said.
	offer(ctx context.Context, said *Introduction) error
	describe(ctx context.Context, said *Introduction) (*commonv1.ProducerRef, error)
	configure(ctx context.Context, config *structpb.Struct) error
	// invoke returns the function that receives the next event; io.EOF is the regular end. After that, trailer is what came
	// with it.
	invoke(ctx context.Context, call Call) (receive next, trailer func() metadata.MD, err error)
	preview(ctx context.Context, call Call) (*renderv1.RenderTree, error)
	render(ctx context.Context, payload []byte, version string) (*renderv1.RenderTree, error)
}

// next receives the next event, with the encoding of its payload if that is known; io.EOF is the regular end.
type next func() (event *toolv1.ToolEvent, encoded string, err error)

type tools struct{ rpc toolv1.ToolServiceClient }

func newTools(conn *grpc.ClientConn) category { return tools{toolv1.NewToolServiceClient(conn)} }

func (tools) id() commonv1.Category { return commonv1.Category_CATEGORY_TOOL }

func (t tools) offer(ctx context.Context, said *Introduction) (err error) {
	said.Tools, err = t.rpc.GetSchema(ctx, &toolv1.GetSchemaRequest{})
	return err
}

func (t tools) describe(ctx context.Context, said *Introduction) (*commonv1.ProducerRef, error) {
	r, err := t.rpc.Describe(ctx, &toolv1.DescribeRequest{})
	said.ToolsProducer = r.GetProducer()
	return r.GetProducer(), err
}

func (t tools) configure(ctx context.Context, config *structpb.Struct) error {
	_, err := t.rpc.Configure(ctx, &toolv1.ConfigureRequest{Config: config})
	return err
}

func (t tools) call(c Call) *toolv1.ToolCall {
	return &toolv1.ToolCall{Id: c.ID, ToolName: c.Operation.Name, Arguments: c.Arguments, CallContext: c.Context}
}

func (t tools) invoke(ctx context.Context, c Call) (next, func() metadata.MD, error) {
	stream, err := t.rpc.Invoke(ctx, &toolv1.InvokeRequest{Call: t.call(c)})
	if err != nil {
		return nil, nil, err
	}
	return func() (*toolv1.ToolEvent, string, error) {
		r := &toolv1.InvokeResponse{}
		in := codec.Received{Response: r}
		err := stream.RecvMsg(&in)
		return r.GetEvent(), in.Payload, err
	}, stream.Trailer, nil
}

func (t tools) preview(ctx context.Context, c Call) (*renderv1.RenderTree, error) {
	r, err := t.rpc.Preview(ctx, &toolv1.PreviewRequest{Call: t.call(c)})
	return r.GetPreview(), err
}

func (t tools) render(ctx context.Context, payload []byte, version string) (*renderv1.RenderTree, error) {
	r, err := t.rpc.Render(ctx, &toolv1.RenderRequest{Payload: payload, SchemaVersion: version})
	return r.GetTree(), err
}

type commands struct {
	rpc slashcommandv1.SlashCommandServiceClient
}

func newCommands(conn *grpc.ClientConn) category {
	return commands{slashcommandv1.NewSlashCommandServiceClient(conn)}
}

func (commands) id() commonv1.Category { return commonv1.Category_CATEGORY_SLASHCOMMAND }

func (s commands) offer(ctx context.Context, said *Introduction) (err error) {
	said.Commands, err = s.rpc.GetCapabilities(ctx, &slashcommandv1.GetCapabilitiesRequest{})
	return err
}

func (s commands) describe(ctx context.Context, said *Introduction) (*commonv1.ProducerRef, error) {
	r, err := s.rpc.Describe(ctx, &slashcommandv1.DescribeRequest{})
	said.CommandsProducer = r.GetProducer()
	return r.GetProducer(), err
}

func (s commands) configure(ctx context.Context, config *structpb.Struct) error {
	_, err := s.rpc.Configure(ctx, &slashcommandv1.ConfigureRequest{Config: config})
	return err
}

func (s commands) call(c Call) *slashcommandv1.SlashCommandCall {
	return &slashcommandv1.SlashCommandCall{Id: c.ID, Name: c.Operation.Name, Arguments: c.Arguments, CallContext: c.Context}
}

func (s commands) invoke(ctx context.Context, c Call) (next, func() metadata.MD, error) {
	stream, err := s.rpc.Invoke(ctx, &slashcommandv1.InvokeRequest{Call: s.call(c)})
	if err != nil {
		return nil, nil, err
	}
	return func() (*toolv1.ToolEvent, string, error) {
		r := &slashcommandv1.InvokeResponse{}
		in := codec.Received{Response: r}
		err := stream.RecvMsg(&in)
		return fromCommandEvent(r.GetEvent()), in.Payload, err
	}, stream.Trailer, nil
}

func (s commands) preview(ctx context.Context, c Call) (*renderv1.RenderTree, error) {
	r, err := s.rpc.Preview(ctx, &slashcommandv1.PreviewRequest{Call: s.call(c)})
	return r.GetPreview(), err
}

func (s commands) render(ctx context.Context, payload []byte, version string) (*renderv1.RenderTree, error) {
	r, err := s.rpc.Render(ctx, &slashcommandv1.RenderRequest{Payload: payload, SchemaVersion: version})
	return r.GetTree(), err
}

// fromCommandEvent turns the event of a command into that of a tool: the same shapes under other names.
func fromCommandEvent(e *slashcommandv1.SlashCommandEvent) *toolv1.ToolEvent {
	switch v := e.GetEvent().(type) {
	case *slashcommandv1.SlashCommandEvent_OutputChunk_:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{
			Stream: v.OutputChunk.GetStream(), Data: v.OutputChunk.GetData()}}}
	case *slashcommandv1.SlashCommandEvent_Progress_:
		progress := &toolv1.ToolEvent_Progress{Message: v.Progress.GetMessage()}
		if v.Progress != nil {
			progress.FractionComplete = v.Progress.FractionComplete
		}
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: progress}}
	case *slashcommandv1.SlashCommandEvent_PartialResult_:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{
			Payload: v.PartialResult.GetPayload()}}}
	case *slashcommandv1.SlashCommandEvent_ExitStatus_:
		exit := &toolv1.ToolEvent_ExitStatus{ExitCode: v.ExitStatus.GetExitCode()}
		if v.ExitStatus != nil {
			exit.Signal = v.ExitStatus.Signal
		}
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_ExitStatus_{ExitStatus: exit}}
	case *slashcommandv1.SlashCommandEvent_Result:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: v.Result}}
	case *slashcommandv1.SlashCommandEvent_Error:
		return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: v.Error}}
	default:
		return nil
	}
}

// find returns the category that serves an operation.
func find(all []category, id commonv1.Category) (category, error) {
	for _, c := range all {
		if c.id() == id {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the provider does not serve %s", id)
}
