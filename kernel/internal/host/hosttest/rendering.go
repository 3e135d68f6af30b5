package hosttest

import (
	"bytes"
	"context"
	"strings"
	"sync"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// kept are renderings that wait for a Render, by call.
var kept sync.Map

// takeKept answers a Render that asks for one.
func takeKept(ctx context.Context) (tree *renderv1.RenderTree, asked bool) {
	call := metadata.ValueFromIncomingContext(ctx, plugin.RenderHeader)
	if len(call) == 0 {
		return nil, false
	}
	waiting, _ := kept.LoadAndDelete(call[0])
	tree, _ = waiting.(*renderv1.RenderTree)
	return tree, true
}

// sendAlong ends the stream of an echo with a rendering of what the text says behind "along:", right or wrong.
func sendAlong(c call) error {
	how, found := strings.CutPrefix(c.text("text"), "along:")
	if !found {
		return nil
	}
	if len(metadata.ValueFromIncomingContext(c.ctx, plugin.RenderHeader)) == 0 {
		how += ", unasked"
	}
	if strings.HasPrefix(how, "kept") {
		if !strings.Contains(how, "gone") {
			kept.Store(c.GetId(), textTree("%s", how))
		}
		return grpc.SetTrailer(c.ctx, metadata.Pairs(plugin.RenderingKept, "1"))
	}
	tree := textTree("sent along: %s", how)
	if strings.HasPrefix(how, "too long") {
		tree = textTree("%s", strings.Repeat("x", plugin.LongestRendering))
	}
	if strings.HasPrefix(how, "empty") {
		tree = &renderv1.RenderTree{}
	}
	text, err := proto.Marshal(tree)
	if err != nil {
		return err
	}
	if strings.HasPrefix(how, "no tree") {
		text = []byte("no tree")
	}
	if strings.HasPrefix(how, "huge") { // beyond what gRPC takes
		text = bytes.Repeat([]byte("x"), 20<<20)
	}
	trailer := metadata.Pairs(plugin.RenderingTrailer, string(text))
	if strings.HasPrefix(how, "two") {
		trailer.Append(plugin.RenderingTrailer, string(text))
	}
	return grpc.SetTrailer(c.ctx, trailer)
}
