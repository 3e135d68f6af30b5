package hosttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// fixture is the provider.
type fixture struct {
	mode   Mode
	broker *goplugin.GRPCBroker

	mu         sync.Mutex
	configured *structpb.Struct
	kernel     kernelv1.KernelCallbackServiceClient
}

type bridge struct {
	goplugin.NetRPCUnsupportedPlugin
	fixture *fixture
}

func (b *bridge) GRPCServer(broker *goplugin.GRPCBroker, s *grpc.Server) error {
	b.fixture.broker = broker
	if b.fixture.mode == Useless {
		return nil
	}
	toolv1.RegisterToolServiceServer(s, tools{fixture: b.fixture})
	if b.fixture.mode != ToolsOnly {
		slashcommandv1.RegisterSlashCommandServiceServer(s, commands{fixture: b.fixture})
	}
	return nil
}

func (b *bridge) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a provider is not a client")
}

func (f *fixture) schema() *configv1.ConfigSchema {
	return &configv1.ConfigSchema{Attributes: []*configv1.ConfigAttribute{
		{Name: "greeting", Type: configv1.AttrType_ATTR_TYPE_STRING, Description: "What /hello says."},
		{Name: "token", Type: configv1.AttrType_ATTR_TYPE_STRING, Sensitive: true, Description: "What leak gives away."},
		{Name: "refuse", Type: configv1.AttrType_ATTR_TYPE_BOOL, Description: "Be unhappy with this configuration."},
	}}
}

func (f *fixture) configure(config *structpb.Struct) error {
	if f.mode == Fragile {
		fmt.Fprintln(stderr, "the vase fell")
		os.Exit(4)
	}
	switch f.mode {
	case Stuck:
		select {}
	case Curt:
		s, _ := status.New(codes.InvalidArgument, "refused").WithDetails(&toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS})
		return s.Err()
	}
	if config.GetFields()["refuse"].GetBoolValue() {
		details, _ := structpb.NewStruct(map[string]any{"field": "refuse"})
		s, _ := status.New(codes.InvalidArgument, "refused").WithDetails(&toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS,
			Message:  `refuse must be false`, Details: details,
		})
		return s.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.configured = config
	return nil
}

func (f *fixture) greeting() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.configured.GetFields()["greeting"].GetStringValue()
}

// callback dials the kernel at the first use, as late as a provider likes.
func (f *fixture) callback() (kernelv1.KernelCallbackServiceClient, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kernel == nil {
		conn, err := f.broker.Dial(plugin.CallbackStreamID)
		if err != nil {
			return nil, err
		}
		f.kernel = kernelv1.NewKernelCallbackServiceClient(conn)
	}
	return f.kernel, nil
}

func (f *fixture) report(callID, note string, partial map[string]any, output string) {
	if f.mode == Mute {
		return
	}
	kernel, err := f.callback()
	if err != nil {
		fmt.Fprintln(stderr, "no callback:", err)
		return
	}
	details, _ := structpb.NewStruct(map[string]any{"partial_result": partial, "output": output})
	payload, _ := proto.Marshal(&eventv1.ToolResultEvent{ToolCallId: callID, Outcome: &eventv1.ToolResultEvent_Error{Error: &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, Message: note, Details: details,
	}}})
	_, err = kernel.Emit(context.Background(), &kernelv1.EmitRequest{
		Kind: kernelv1.EventKind_EVENT_KIND_TOOL_RESULT, SchemaVersion: plugin.SchemaVersion, Payload: payload,
	})
	if err != nil {
		fmt.Fprintln(stderr, "no report:", err)
	}
}

func producer(c commonv1.Category) *commonv1.ProducerRef {
	return &commonv1.ProducerRef{Name: "fixture", Version: "1.2.3", Source: "example.com/fixture", Category: c, ProtocolVersion: 1}
}

func textTree(format string, args ...any) *renderv1.RenderTree {
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{
		Text: &renderv1.TextNode{Content: fmt.Sprintf(format, args...)}}}}
}
