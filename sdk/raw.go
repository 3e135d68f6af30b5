package sdk

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/schema"
	"github.com/agentco/agent/sdk/internal/secret"
)

// RawHandler is a [Handler] whose arguments and result are messages. The arguments fit the schema and are the handler's
// to change; the result is checked before it is sent.
type RawHandler[C any] = Handler[C, *structpb.Struct, *structpb.Struct]

// RawOperation is an [Operation] without Go types for its arguments and result.
type RawOperation[C any] = Operation[C, *structpb.Struct, *structpb.Struct]

// RawTool adds a tool whose schema is known only at run time, for a proxy of tools that are described elsewhere. All else
// is as with [Tool], and the methods of the result may still change what s says. Calls and results are checked against
// the schemas in s; one that is nil takes anything. The error says why s is none that a kernel could use; p is then as it
// was.
//
// A kernel asks for schemas before it configures and without a network, so the schemas have to be there before [Main]:
// read them from a file, or from what an earlier run has kept.
func RawTool[C any](p *Provider[C], s *toolv1.ToolSchema, handle RawHandler[C]) (*RawOperation[C], error) {
	s = proto.Clone(s).(*toolv1.ToolSchema)
	return addRaw(p, handle, s.GetInputSchema(), s.GetOutputSchema(), spec{
		name: s.GetName(), description: s.GetDescription(), kind: s.GetKind(), risk: s.GetRisk(), concurrency: s.GetConcurrency(),
		streaming: s.GetStreaming(), idempotent: s.GetIdempotent(), timeout: s.GetDefaultTimeout(), ends: s.GetTerminatesTurn(),
	})
}

// RawCommand adds a slash command whose schema is known only at run time. It is in everything else like [RawTool].
func RawCommand[C any](p *Provider[C], s *slashcommandv1.SlashCommandSpec, handle RawHandler[C]) (*RawOperation[C], error) {
	s = proto.Clone(s).(*slashcommandv1.SlashCommandSpec)
	return addRaw(p, handle, s.GetInputSchema(), nil, spec{
		command: true,
		name:    s.GetName(), description: s.GetDescription(), kind: s.GetKind(), risk: s.GetRisk(), concurrency: s.GetConcurrency(),
		streaming: s.GetStreaming(), idempotent: s.GetIdempotent(), timeout: s.GetDefaultTimeout(),
	})
}

func addRaw[C any](p *Provider[C], handle RawHandler[C], in, out *schemav1.Schema, s spec) (op *RawOperation[C], err error) {
	if handle == nil {
		return nil, fmt.Errorf("provider %q: %s has no function", p.name, s.name)
	}
	if s.in, err = schema.Parse(in); err != nil {
		return nil, fmt.Errorf("provider %q: %s: arguments: %w", p.name, s.name, err)
	}
	if s.out, err = schema.Parse(out); err != nil {
		return nil, fmt.Errorf("provider %q: %s: result: %w", p.name, s.name, err)
	}
	op = &RawOperation[C]{spec: s, handle: func(ctx context.Context, call *Call[C], in *structpb.Struct) (*structpb.Struct, error) {
		out, err := handle(ctx, call, in)
		return secret.Clean(nil, out), err // a message can hold what the wire has no form for
	}}
	if err := p.add(op); err != nil {
		return nil, err
	}
	return op, nil
}
