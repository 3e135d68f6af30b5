package host

import (
	"context"
	"errors"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
	"google.golang.org/grpc/status"
)

// Preview asks what a call would do. It fails when the provider has nothing to show; Refusal then tells whether it has
// something against the call.
func (p *Provider) Preview(ctx context.Context, call Call) (*renderv1.RenderTree, error) {
	l, err := p.ready(ctx)
	if err != nil {
		return nil, err
	}
	service, err := find(l.serves, call.Operation.Category)
	if err != nil {
		return nil, err
	}
	tree, err := whole(service.preview(ctx, call))
	l.suspectAfter(err)
	if absent(err) {
		return nil, errors.New("the provider has none")
	}
	return tree, l.spoken(err)
}

// Render asks how to show the payload, as JSON, of a result of op. It fails when the provider has nothing to show.
func (p *Provider) Render(ctx context.Context, op Operation, payload []byte) (*renderv1.RenderTree, error) {
	l, err := p.ready(ctx)
	if err != nil {
		return nil, err
	}
	service, err := find(l.serves, op.Category)
	if err != nil {
		return nil, err
	}
	tree, err := whole(service.render(ctx, payload, plugin.SchemaVersion))
	l.suspectAfter(err)
	return tree, l.spoken(err)
}

// spoken is the error of an RPC in words for a person.
func (l *life) spoken(err error) error {
	said, ok := status.FromError(err)
	switch {
	case err == nil || !ok:
		return err
	case lost(err) && l.process.awaitEnd(crashPatience):
		return &rpcError{error: err, text: "the provider ended meanwhile (" + l.process.ending() + ")"}
	}
	return &rpcError{error: err, text: said.Message()}
}

// rpcError is the error of an RPC without the words of the transport.
type rpcError struct {
	error
	text string
}

func (e *rpcError) Error() string { return e.text }
func (e *rpcError) Unwrap() error { return e.error }

func whole(tree *renderv1.RenderTree, err error) (*renderv1.RenderTree, error) {
	if err == nil && tree.GetRoot().GetNode() == nil {
		return nil, errors.New("the provider answered with an empty tree")
	}
	return tree, err
}
