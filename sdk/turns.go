package sdk

import (
	"context"

	"github.com/agentco/agent/sdk/internal/turn"
)

// turns holds the operations of a provider to what they say about each other.
type turns struct {
	gate turn.Gate
	// anyAlone is false when no operation is exclusive: then a plain call is in nobody's way and takes no turn.
	anyAlone bool
}

// neverStarted is the error of a call that was ended while it waited for its turn.
type neverStarted struct{ cause error }

func (e *neverStarted) Error() string {
	return e.cause.Error() + " while waiting for a call that it may not run beside; nothing was done"
}

func (e *neverStarted) Unwrap() error { return e.cause }

func (t *turns) enter(ctx context.Context, c turn.Claim) error {
	if !t.concerns(c) {
		return nil
	}
	if err := t.gate.Enter(ctx, c); err != nil {
		return &neverStarted{err}
	}
	return nil
}

func (t *turns) leave(c turn.Claim) {
	if t.concerns(c) {
		t.gate.Leave(c)
	}
}

func (t *turns) concerns(c turn.Claim) bool { return t.anyAlone || c != turn.Claim{} }
