package engine

import (
	"context"
	"errors"
	"time"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/agentco/agent/kernel/internal/secret"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/types/known/structpb"
)

// showTimeout is how long a provider may think about what to show.
const showTimeout = 5 * time.Second

// final are the categories of what a provider says against a call for good. Of the others the call itself may fare
// better than its preview did.
var final = map[toolv1.ToolErrorCategory]bool{
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS:    true,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND:            true,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED:    true,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED:     true,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT: true,
}

// previewOf serves the gate: nobody is asked about a call that its provider will refuse.
func (s *Session) previewOf(ctx context.Context, c gate.Call) (*renderv1.RenderTree, error) {
	tree, err := s.preview(ctx, c.ID, Operation{Provider: c.Provider, Name: c.Operation, Category: c.Category}, c.Arguments)
	secrets := s.engine.secrets
	if reason := host.Refusal(err); final[reason.GetCategory()] {
		return nil, &gate.RefusalError{Reason: secret.Clean(secrets, reason)}
	}
	if err != nil {
		return nil, errors.New(secrets.Text(err.Error()))
	}
	return secret.Clean(secrets, tree), nil
}

// use begins something short with a provider; end ends it.
func (e *Engine) use(ctx context.Context, name string) (_ context.Context, p provider, end func(), err error) {
	if p, err = e.provider(name); err != nil {
		return nil, p, nil, err
	}
	ctx, end, err = e.begin(ctx)
	return ctx, p, end, err
}

func (s *Session) preview(ctx context.Context, id string, op Operation, args *structpb.Struct) (*renderv1.RenderTree, error) {
	ctx, p, end, err := s.engine.use(ctx, op.Provider)
	if err != nil {
		return nil, err
	}
	defer end()
	return p.Preview(ctx, host.Call{
		ID: id, Operation: op, Arguments: args,
		Context: &commonv1.CallContext{SessionId: s.id, TurnId: ulid.Make().String(), WorkingDirectory: s.workingDir},
	})
}

// Render turns the payload of a result of op into something to show. Without a usable answer of the provider within
// five seconds it shows the payload instead; it never returns nil.
func (e *Engine) Render(ctx context.Context, op Operation, payload *structpb.Struct) *renderv1.RenderTree {
	tree, err := e.render(ctx, op, payload)
	if err != nil {
		e.log.Debug("the provider has no rendering", "operation", op.String(), "cause", err.Error())
		return gate.Pretty(payload)
	}
	return tree
}

// render begins to render a result that is going to be shown, unless its provider has sent that along. rendered waits for it.
func (c *call) render() (rendered func() *renderv1.RenderTree) {
	if !c.request.Render || c.outcome.Status != Completed || c.outcome.Rendering != nil {
		return func() *renderv1.RenderTree { return c.outcome.Rendering }
	}
	ready := make(chan *renderv1.RenderTree, 1)
	go func() {
		if tree := c.kept(); tree != nil {
			ready <- tree
			return
		}
		ready <- c.turn.session.engine.Render(context.Background(), c.request.Operation, c.outcome.Result)
	}()
	return func() *renderv1.RenderTree { return <-ready }
}

// kept is the rendering that the provider keeps of the result; nil when it does not.
func (c *call) kept() *renderv1.RenderTree {
	if c.rendering == nil {
		return nil
	}
	e := c.turn.session.engine
	ctx, cancel := context.WithTimeout(context.Background(), showTimeout)
	defer cancel()
	ctx, _, end, err := e.use(ctx, c.request.Operation.Provider)
	if err != nil {
		return nil
	}
	defer end()
	tree, err := c.rendering.Fetch(ctx)
	if err != nil {
		e.log.Debug("a rendering was not kept", "operation", c.outcome.Operation, "cause", err.Error())
		return nil
	}
	return secret.Clean(e.secrets, tree)
}

// RenderPart is Render for a partial result. It is nil when the provider has no rendering for a part: the result has all of
// them.
func (e *Engine) RenderPart(ctx context.Context, op Operation, payload *structpb.Struct) *renderv1.RenderTree {
	tree, _ := e.render(ctx, op, payload)
	return tree
}

func (e *Engine) render(ctx context.Context, op Operation, payload *structpb.Struct) (*renderv1.RenderTree, error) {
	ctx, cancel := context.WithTimeout(ctx, showTimeout)
	defer cancel()
	ctx, p, end, err := e.use(ctx, op.Provider)
	if err != nil {
		return nil, err
	}
	defer end()
	tree, err := p.Render(ctx, op, schema.AppendJSON(nil, payload))
	return secret.Clean(e.secrets, tree), err
}
