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

// Kept is a rendering that waits with the process that made the result, being too large to come along with that.
type Kept struct {
	service category
	call    string
}

// Fetch gets it, once. It fails when it is gone, or there is none: then Render has to be asked, which says why.
func (k *Kept) Fetch(ctx context.Context) (*renderv1.RenderTree, error) {
	return whole(k.service.render(metadata.AppendToOutgoingContext(ctx, plugin.RenderHeader, k.call), nil, plugin.SchemaVersion))
}

// keptFor is what a provider says it keeps for a call; nil when it does not.
func keptFor(call Call, service category, trailer metadata.MD) *Kept {
	if len(trailer.Get(plugin.RenderingKept)) == 0 {
		return nil
	}
	return &Kept{service, call.ID}
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
