package sdk

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/proto/codec"
	"github.com/agentco/agent/proto/plugin"
)

// attachRendering ends the stream of a call with what shows its result, when the kernel has asked for that and it is
// small. Otherwise, and when something is wrong with it, the kernel asks for it by Render, which says what.
func (s *server) attachRendering(rpc context.Context, op operation, out outcome) {
	if out.err != nil || len(metadata.ValueFromIncomingContext(rpc, plugin.RenderHeader)) == 0 || atMost(out.payload) > plugin.LongestRendering {
		return
	}
	payload, err := codec.Opened(out.payload)
	if err != nil {
		return
	}
	node, _, err := shown(op, payload)
	if err != nil || node == nil {
		return
	}
	tree, err := s.tree("what shows the result", node)
	if err != nil {
		return
	}
	if text, err := proto.Marshal(tree); err == nil && len(text) <= plugin.LongestRendering {
		_ = grpc.SetTrailer(rpc, metadata.Pairs(plugin.RenderingTrailer, string(text)))
	}
}
