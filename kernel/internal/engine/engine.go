// Package engine ties a turn together: it starts the providers, checks a call, takes it through policy and gate,
// schedules it, runs it and says how it ended. It is what every face of the kernel stands on.
//
//	e, err := engine.Open(ctx, engine.Options{Providers: specs, Approver: approver})
//	defer e.Close()
//	op, err := e.Lookup("filesystem", "read_file")
//	outcome := e.Invoke(ctx, engine.Request{Operation: op, Arguments: args}, func(ev *toolv1.ToolEvent) { … })
package engine

import (
	"context"
	"errors"
	"fmt"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Engine runs calls. Its methods may be called from many goroutines.
type Engine struct {
	operations []Operation
}

var errAbsent = errors.New("the engine is not built yet")

// Open starts all providers, in parallel, and returns when each of them is configured or has failed. Policies that
// contradict each other are an error without an engine. When providers fail, the error joins a *StartError for each
// (errors.As finds one, Failures all), and the engine still serves the others: it is never nil then, and must be
// closed. A ctx that ends stops the starts; it does not bind the engine afterwards.
func Open(ctx context.Context, o Options) (*Engine, error) { return nil, errAbsent }

// Failures lists the providers that could not be started, from the error of Open.
func Failures(err error) []*StartError { return nil }

// SessionID is the ULID that all calls of this engine carry.
func (e *Engine) SessionID() string { return "" }

// Providers describes the providers that were started, in the order of Options.
func (e *Engine) Providers() []Info { return nil }

// Invoke runs one call and returns when it is over. It never panics and never fails otherwise than by its Outcome.
// When ctx is done the call is cancelled: Invoke then waits for the provider's report, for as long as the grace time
// allows (about six seconds), unless Kill ends it.
func (e *Engine) Invoke(ctx context.Context, r Request, sink Sink) Outcome { return Outcome{} }

// Turn runs several calls as one turn: they share one plan, so that everything that must be asked about is asked at
// once. Calls that are allowed do not wait for the answers. sink gets each event with the index of its request, and
// is called from several goroutines when calls run beside each other. Outcomes are in the order of the requests.
func (e *Engine) Turn(ctx context.Context, requests []Request, sink func(i int, ev *toolv1.ToolEvent)) []Outcome {
	return nil
}

// Validate checks arguments against the operation's schema as Invoke does. Nil means that they fit.
func (e *Engine) Validate(op Operation, args *structpb.Struct) error { return nil }

// Preview says what a call would do, without doing it. Without a usable answer of the provider within five seconds it
// shows the arguments instead; it never returns nil.
func (e *Engine) Preview(ctx context.Context, r Request) *renderv1.RenderTree { return nil }

// Render turns the payload of a result of op into something to show. Without a usable answer of the provider within
// five seconds it shows the payload instead; it never returns nil.
func (e *Engine) Render(ctx context.Context, op Operation, payload *structpb.Struct) *renderv1.RenderTree {
	return nil
}

// Kill ends every provider process at once, without grace. Calls that run end as cancelled if they had been cancelled,
// else as crashed. The engine can only be closed afterwards.
func (e *Engine) Kill() {}

// Close ends the providers: gracefully where they let it, within a few seconds in any case. Nothing of them is left.
// It may be called more than once.
func (e *Engine) Close() error { return nil }

func (e *Engine) provider(name string) (Info, error) {
	return Info{}, fmt.Errorf("there is no provider %q", name)
}
