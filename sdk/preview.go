package sdk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/internal/secret"
	"github.com/agentco/agent/sdk/render"
)

// preview says what a call would do. Arguments are checked as Invoke checks them.
func (s *server) preview(rpc context.Context, command bool, call *toolv1.ToolCall) (*renderv1.RenderTree, error) {
	ctx, end, ok := s.life.begin(rpc)
	if !ok {
		return nil, s.refusal(s.ending())
	}
	defer end()
	op, config, err := s.admit(command, call.GetToolName())
	if err != nil {
		return nil, s.refusal(err)
	}
	f := &frame{
		server: s, config: config, call: call, operation: op.about(), preview: true,
		// A preview has no stream: what it sends goes nowhere.
		events: &events{ctx: ctx, closed: true, steps: steps{ended: true}},
	}
	defer f.grace.finish()
	plan, err := apart("preview "+op.about().name, func() (Plan, error) { return op.plan(ctx, f, f.call.GetArguments()) })
	switch {
	case errors.Is(err, errNoPreview):
		return nil, status.Errorf(codes.Unimplemented, "%s has no preview", op.about().name)
	case err != nil:
		return nil, s.refusal(err)
	}
	tree, err := s.tree(op.about().name+": the preview", plan.node())
	if err != nil {
		return nil, s.refusal(err)
	}
	return tree, nil
}

// tree is a node as it may be sent. The error is of category unknown: it is the provider's fault, and no reason against a call.
func (s *server) tree(what string, node render.Node) (*renderv1.RenderTree, error) {
	if fault := unshowable(node); fault != "" {
		return nil, &Error{Category: CategoryUnknown, Message: what + " " + fault}
	}
	tree := secret.Clean(s.secrets, render.Tree(node))
	if size := proto.Size(tree); size > messageBytes {
		return nil, &Error{Category: CategoryUnknown, Message: fmt.Sprintf("%s has %d bytes and one message carries at most %d", what, size, messageBytes)}
	}
	return tree, nil
}

// refusal is err as the answer of a unary call.
func (s *server) refusal(err error) error {
	return statusOf(bounded(secret.Clean(s.secrets, asError(err).proto()), statusBytes))
}

// render shows a payload of this provider: a result, or the note of a report as the sentence it is. A result of an operation
// that has no way to show one is shown as JSON. What fits none, a part of a result for example, is refused, so that the
// kernel can tell it from what its operation shows.
func (s *server) render(ctx context.Context, command bool, payload []byte, schemaVersion string) (*renderv1.RenderTree, error) {
	if schemaVersion != plugin.SchemaVersion {
		return nil, s.refusal(InvalidArgument("schema_version", "is %q; this provider renders version %q", schemaVersion, plugin.SchemaVersion))
	}
	if call := metadata.ValueFromIncomingContext(ctx, plugin.RenderHeader); len(call) > 0 && len(payload) == 0 {
		if tree := s.kept.take(ctx, call[0]); tree != nil {
			return tree, nil
		}
		return nil, s.refusal(NotFound("the rendering of call %q is not kept here", call[0]))
	}
	in := &structpb.Struct{}
	if err := protojson.Unmarshal(payload, in); err != nil {
		return nil, s.refusal(InvalidArgument("payload", "is not a JSON object: %v", err))
	}
	tree, err := s.renderResult(command, in)
	if err != nil {
		if fault := asError(err); fault.Category == CategoryUnknown { // a person sees the result in another form, and not why
			s.callbacks.logger("", s.name).Warn(fault.Message)
		}
		return nil, s.refusal(err)
	}
	return tree, nil
}

func (s *server) renderResult(command bool, in *structpb.Struct) (*renderv1.RenderTree, error) {
	plain := false
	for _, op := range s.operations {
		if op.about().command != command {
			continue
		}
		node, fits, err := shown(op, in)
		if err != nil {
			return nil, err
		}
		if node != nil {
			return s.tree(op.about().name+": what shows the result", node)
		}
		plain = plain || fits
	}
	if note, ok := in.GetFields()["note"].GetKind().(*structpb.Value_StringValue); ok && len(in.GetFields()) == 1 {
		return s.tree("the note", render.Text(note.StringValue))
	}
	if plain {
		return s.tree("the result", render.Code("json", protojson.MarshalOptions{Multiline: true}.Format(in)))
	}
	return nil, InvalidArgument("payload", "is the result of none of the operations of this provider")
}

// shown asks an operation for the node of a payload, and whether it is a result of it at all.
func shown(op operation, payload *structpb.Struct) (node render.Node, fits bool, err error) {
	node, err = apart("render "+op.about().name, func() (render.Node, error) {
		shown, ok := op.show(payload)
		fits = ok
		return shown, nil
	})
	return node, fits, err
}
