package host

import (
	"context"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// asking tells the provider of a result that is going to be shown.
func asking(rpc context.Context, call Call) context.Context {
	if !call.Render {
		return rpc
	}
	return metadata.AppendToOutgoingContext(rpc, plugin.RenderHeader, "1")
}

// sentAlong is the rendering that came with the end of a stream. Nil: there is none, or none that is of use, and Render has
// to be asked.
func sentAlong(trailer metadata.MD) *renderv1.RenderTree {
	sent := trailer.Get(plugin.RenderingTrailer)
	if len(sent) != 1 || len(sent[0]) > plugin.LongestRendering {
		return nil
	}
	tree := &renderv1.RenderTree{}
	if proto.Unmarshal([]byte(sent[0]), tree) != nil {
		return nil
	}
	tree, _ = whole(tree, nil)
	return tree
}
