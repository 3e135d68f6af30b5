package host

import (
	"context"
	"errors"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
)

// Preview asks what a call would do. It fails when the provider has nothing to show.
func (p *Provider) Preview(ctx context.Context, call Call) (*renderv1.RenderTree, error) {
	l, err := p.ready(ctx)
	if err != nil {
		return nil, err
	}
	service, err := find(l.serves, call.Operation.Category)
	if err != nil {
		return nil, err
	}
	return whole(service.preview(ctx, call))
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
	return whole(service.render(ctx, payload, plugin.SchemaVersion))
}

func whole(tree *renderv1.RenderTree, err error) (*renderv1.RenderTree, error) {
	if err == nil && tree.GetRoot().GetNode() == nil {
		return nil, errors.New("the provider answered with an empty tree")
	}
	return tree, err
}
