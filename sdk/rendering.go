package sdk

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
)

// attachRendering ends the stream of a call with what shows its result, when the kernel has asked for that, or if it is not
// small, with the word that it is kept. When something is wrong with it, the kernel asks for it by Render, which says what.
func (s *server) attachRendering(rpc context.Context, f *frame, op operation, out outcome) {
	if out.err != nil || !op.shows() || len(metadata.ValueFromIncomingContext(rpc, plugin.RenderHeader)) == 0 {
		return
	}
	if atMost(out.payload) > plugin.LongestRendering {
		s.keepRendering(rpc, f, func() *renderv1.RenderTree { return s.rendering(op, out.payload) })
		return
	}
	tree := s.rendering(op, out.payload)
	if tree == nil {
		return
	}
	if text, err := proto.Marshal(tree); err == nil && len(text) <= plugin.LongestRendering {
		_ = grpc.SetTrailer(rpc, metadata.Pairs(plugin.RenderingTrailer, string(text)))
		return
	}
	s.keepRendering(rpc, f, func() *renderv1.RenderTree { return tree })
}

// keepRendering keeps what make gives, which is made while the kernel reads the result.
func (s *server) keepRendering(rpc context.Context, f *frame, make func() *renderv1.RenderTree) {
	if made, ok := s.kept.put(f.call.GetId()); ok {
		s.workers.run(func() {
			var tree *renderv1.RenderTree
			defer func() { made(tree) }() // also when the author's function ends its goroutine
			tree = make()
		})
		_ = grpc.SetTrailer(rpc, metadata.Pairs(plugin.RenderingKept, "1"))
	}
}

// rendering is what shows a result of an operation; nil when nothing does.
func (s *server) rendering(op operation, payload *structpb.Struct) *renderv1.RenderTree {
	node, _, err := shown(op, payload)
	if err != nil || node == nil {
		return nil
	}
	tree, err := s.tree("what shows the result", node)
	if err != nil {
		return nil
	}
	return tree
}
