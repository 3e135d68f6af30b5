package sdk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	"github.com/agentco/agent/proto/plugin"
)

// ErrNoKernel says that nobody takes what is emitted: the kernel serves no callbacks, or not this one.
var ErrNoKernel = errors.New("the kernel serves no callbacks")

// Event is something to be recorded in the session of a call.
type Event struct {
	// Kind says what the event records.
	Kind kernelv1.EventKind
	// SchemaVersion is the version of the payload's shape; empty means the current one, "1".
	SchemaVersion string
	// Payload is the event itself: a message of event.v1, encoded, for the kinds that have one.
	Payload []byte
}

// Receipt says where an event was put.
type Receipt struct {
	// ID is the event's own, Sequence its place in the session.
	ID       string
	Sequence int64
}

// Emit has the kernel record an event in the session of the call, and waits until it has. The error is [ErrNoKernel] when
// there is nobody to take it, and otherwise what the kernel said. A preview emits nothing: it only says what would be
// done. A payload that holds the value of a sensitive attribute is refused.
func (c *Call[C]) Emit(event Event) (Receipt, error) { return c.frame.emit(c.ctx, event) }

func (f *frame) emit(ctx context.Context, event Event) (Receipt, error) {
	switch {
	case f.preview:
		return Receipt{}, Failed("emit: a preview changes nothing; emit when the call runs")
	case event.Kind == kernelv1.EventKind_EVENT_KIND_UNSPECIFIED:
		return Receipt{}, Failed("emit: the event has no kind")
	case len(event.Payload) > messageBytes:
		return Receipt{}, Failed("emit: the payload has %d bytes and one message carries at most %d", len(event.Payload), messageBytes)
	case f.server.secrets.In(event.Payload):
		return Receipt{}, Failed("emit: the payload holds the value of a sensitive attribute")
	}
	if event.SchemaVersion == "" {
		event.SchemaVersion = plugin.SchemaVersion
	}
	result, err := f.server.callbacks.emit(ctx, &kernelv1.EmitRequest{
		SessionId: f.call.GetCallContext().GetSessionId(), Kind: event.Kind,
		SchemaVersion: event.SchemaVersion, Payload: event.Payload,
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("emit: %w", err)
	}
	return Receipt{ID: result.GetId(), Sequence: result.GetSequence()}, nil
}

// emit hands an event to the kernel.
func (c *callbacks) emit(ctx context.Context, request *kernelv1.EmitRequest) (*kernelv1.EmitResult, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(c.alive, end)()
	reachable, cancel := context.WithTimeout(ctx, kernelPatience)
	defer cancel()
	client, err := c.connected(reachable)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, ErrNoKernel // a channel that does not come in time is none
	}
	result, err := client.Emit(ctx, request)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case status.Code(err) == codes.Unimplemented:
		return nil, ErrNoKernel
	case status.Code(err) == codes.Unavailable: // it was there, and has gone
		return nil, fmt.Errorf("%w: %s", ErrNoKernel, status.Convert(err).Message())
	}
	return nil, err
}
