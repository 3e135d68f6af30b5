package sdk

import (
	"errors"
	"fmt"
)

// undeclared is the fault of an operation that sent what it may not send. The function may hide it (of a child process
// that could not write, exec.Cmd tells the SIGPIPE) or take what was lost for nothing, so the call itself tells it.
type undeclared struct{ operation, did string }

func (u *undeclared) Error() string {
	return fmt.Sprintf("%s %s but is not declared Streaming: register it with .Streaming()", u.operation, u.did)
}

// refuseLocked keeps the first refusal for the end of the call.
func (e *events) refuseLocked(did string) error {
	u := &undeclared{e.operation, did}
	if e.refused == nil {
		e.refused = u
	}
	return u
}

// judged is the outcome of the call: of one that sent what it may not send, that fault with whatever the function made
// of it as the cause.
func (e *events) judged(out outcome) outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused == nil || errors.Is(out.err, errAbandoned) {
		return out
	}
	fault := &Error{Category: CategoryUnknown, Message: e.refused.Error(), Err: out.err}
	if fault.Err == nil {
		fault.Err = e.refused
	}
	return outcome{err: fault}
}
