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

// expectRendering makes room for what shows the result of a call, when the kernel has asked for it.
func (f *frame) expectRendering(ctx context.Context, op operation) {
	if op.shows() && len(metadata.ValueFromIncomingContext(ctx, plugin.RenderHeader)) > 0 {
		f.rendering = make(chan *renderv1.RenderTree, 1)
	}
}

func (f *frame) endRendering() {
	if f.rendering != nil {
		close(f.rendering)
	}
}

// renderSmall makes what shows a small result while that is sent, on the goroutine of the function: the author's too, it may
// end there like that.
func (s *server) renderSmall(f *frame, op operation, out outcome) {
	if f.rendering != nil && out.err == nil && atMost(out.payload) <= plugin.LongestRendering {
		f.rendering <- s.rendering(op, out.payload)
	}
}

// attachRendering ends the stream of a call with what shows its result, or if it is not small, with the word that it is kept.
// When something is wrong with it, the kernel asks for it by Render, which says what.
func (s *server) attachRendering(ctx context.Context, f *frame, op operation, out outcome) {
	if f.rendering == nil || out.err != nil {
		return
	}
	if atMost(out.payload) > plugin.LongestRendering {
		s.keepRendering(ctx, f, func() *renderv1.RenderTree { return s.rendering(op, out.payload) })
		return
	}
	select {
	case tree := <-f.rendering:
		s.attach(ctx, f, tree)
	case <-ctx.Done(): // the kernel has waited long enough
	}
}

func (s *server) attach(ctx context.Context, f *frame, tree *renderv1.RenderTree) {
	if tree == nil {
		return
	}
	if text, err := proto.Marshal(tree); err == nil && len(text) <= plugin.LongestRendering {
		_ = grpc.SetTrailer(ctx, metadata.Pairs(plugin.RenderingTrailer, string(text)))
		return
	}
	s.keepRendering(ctx, f, func() *renderv1.RenderTree { return tree })
}

// keepRendering keeps what make gives, which is made while the kernel reads the result.
func (s *server) keepRendering(ctx context.Context, f *frame, make func() *renderv1.RenderTree) {
	if made, ok := s.kept.put(f.call.GetId()); ok {
		s.workers.run(func() {
			var tree *renderv1.RenderTree
			defer func() { made(tree) }() // also when the author's function ends its goroutine
			tree = make()
		})
		_ = grpc.SetTrailer(ctx, metadata.Pairs(plugin.RenderingKept, "1"))
	}
}

// rendering is what shows a result of an operation; nil when nothing does, or when that is at fault.
func (s *server) rendering(op operation, payload *structpb.Struct) (tree *renderv1.RenderTree) {
	var fault error
	defer recovered("render "+op.about().name, &fault)
	if node, _ := op.show(payload); node != nil {
		tree, fault = s.tree("what shows the result", node)
	}
	return tree
}
