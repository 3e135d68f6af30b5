package sdk

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/schema"
	"github.com/agentco/agent/sdk/render"
)

// Risk is how much harm a mutating operation can do.
type Risk toolv1.RiskClass

// Risks.
const (
	Low      = Risk(toolv1.RiskClass_RISK_CLASS_LOW)
	Moderate = Risk(toolv1.RiskClass_RISK_CLASS_MODERATE)
	High     = Risk(toolv1.RiskClass_RISK_CLASS_HIGH)
	Critical = Risk(toolv1.RiskClass_RISK_CLASS_CRITICAL)
)

// Handler is the function behind an operation. Arguments have been checked when it runs. When ctx ends it stops,
// puts right what it can under [Call.Grace], says with [Call.Report] what had already happened, and returns
// ctx.Err(). After five seconds it is no longer waited for, though it keeps its turn, see [Operation.Concurrent]. A panic
// becomes an unknown error; the provider lives on.
type Handler[C, In, Out any] func(ctx context.Context, call *Call[C], in In) (Out, error)

// Operation is a tool or a slash command under construction. Its methods return it, for chaining. An operation
// about which nothing is said mutates with High risk and runs alone.
type Operation[C, In, Out any] struct {
	spec    spec
	handle  Handler[C, In, Out]
	preview func(*Call[C], In) (Plan, error)
	node    func(Out) render.Node
	line    func(In, Out) string
	recent  recent[In]
}

// operation is an Operation with its types forgotten.
type operation interface {
	about() *spec
	run(ctx context.Context, frame *frame, arguments *structpb.Struct) (*structpb.Struct, error)
	plan(ctx context.Context, frame *frame, arguments *structpb.Struct) (Plan, error)
	// show makes a node of a payload, encoded or not, that may be one of its results; the node is nil when it has no way to show one.
	show(payload *structpb.Struct) (node render.Node, fits bool)
	// shows reports whether it has a way.
	shows() bool
}

// Tool adds a tool to p. In and Out are structs whose fields have json tags; they may also have doc and enum, and in In
// default, min and max. Fields are strings, booleans, numbers, what has MarshalText and UnmarshalText (such as
// time.Time), map[string]any, structs and slices of these; embedded structs are read as encoding/json reads them. A field with omitempty, a default or a pointer type is
// optional:
//
//	type in struct {
//		Path  string `json:"path" doc:"File to read."`
//		Limit int    `json:"limit" default:"2000" min:"1" doc:"Lines to return."`
//	}
//
// A description is all that a caller has to choose by. It panics when a type cannot be described, a name is taken, or
// the description or the function is missing, which are faults of the program.
func Tool[C, In, Out any](p *Provider[C], name, description string, handle Handler[C, In, Out]) *Operation[C, In, Out] {
	return register(p, false, name, description, handle)
}

// Command adds a slash command to p; the name has no slash. It is in everything else like [Tool].
func Command[C, In, Out any](p *Provider[C], name, description string, handle Handler[C, In, Out]) *Operation[C, In, Out] {
	return register(p, true, name, description, handle)
}

func register[C, In, Out any](p *Provider[C], command bool, name, description string, handle Handler[C, In, Out]) *Operation[C, In, Out] {
	if handle == nil {
		panic(fmt.Sprintf("sdk: %s.%s has no function", p.name, name))
	}
	in, err := schema.Of(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("sdk: %s.%s: arguments: %v", p.name, name, err))
	}
	out, err := schema.Of(reflect.TypeFor[Out]())
	if err != nil {
		panic(fmt.Sprintf("sdk: %s.%s: result: %v", p.name, name, err))
	}
	if member := out.Defaulted(); member != "" {
		panic(fmt.Sprintf("sdk: %s.%s: result: %s has a default, which only arguments can have", p.name, name, member))
	}
	op := &Operation[C, In, Out]{handle: handle, spec: spec{
		command: command, name: name, description: description,
		kind: toolv1.ToolKind_TOOL_KIND_RESOURCE, risk: toolv1.RiskClass_RISK_CLASS_HIGH,
		concurrency: &toolv1.ConcurrencySpec{}, in: in, out: out,
	}}
	if err := p.add(op); err != nil {
		panic("sdk: " + err.Error())
	}
	return op
}

// ReadOnly says that the operation changes nothing: it runs without approval, and beside any other call unless
// Exclusive follows.
func (o *Operation[C, In, Out]) ReadOnly() *Operation[C, In, Out] {
	o.spec.kind, o.spec.risk = toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, toolv1.RiskClass_RISK_CLASS_READ_ONLY
	return o.Concurrent()
}

// Interactive says that the operation asks a person. Such operations run one at a time, and beside nothing else unless
// Concurrent follows.
func (o *Operation[C, In, Out]) Interactive() *Operation[C, In, Out] {
	o.spec.kind, o.spec.risk = toolv1.ToolKind_TOOL_KIND_INTERACTIVE, toolv1.RiskClass_RISK_CLASS_READ_ONLY
	return o.Exclusive()
}

// Mutates says that the operation changes something, and how much harm it can do. It panics when risk is none of the
// constants.
func (o *Operation[C, In, Out]) Mutates(risk Risk) *Operation[C, In, Out] {
	if risk < Low || risk > Critical {
		panic(fmt.Sprintf("sdk: %s: a mutating operation has the risk Low, Moderate, High or Critical, not %d", o.spec.name, risk))
	}
	o.spec.kind, o.spec.risk = toolv1.ToolKind_TOOL_KIND_RESOURCE, toolv1.RiskClass(risk)
	return o
}

// Concurrent says that calls may run beside each other, save those with equal values of the named arguments. The SDK
// holds to it, also when the kernel does not: a call waits for its turn after its arguments are checked, first come first
// served, and a cancellation or deadline ends the waiting. It panics when In has no such argument.
func (o *Operation[C, In, Out]) Concurrent(keyFields ...string) *Operation[C, In, Out] {
	o.spec.concurrency = &toolv1.ConcurrencySpec{Safe: true, KeyFields: keyFields}
	if err := o.spec.keyFault(); err != nil {
		panic(fmt.Sprintf("sdk: %s: %v", o.spec.name, err))
	}
	return o
}

// Exclusive says that nothing of the provider may run beside a call.
func (o *Operation[C, In, Out]) Exclusive() *Operation[C, In, Out] {
	o.spec.concurrency = &toolv1.ConcurrencySpec{}
	return o
}

// Streaming says that output, partial results or an exit status may come before the result. Without it a call that
// uses [Call.Stdout], [Call.Stderr], [Call.Partial] or [Call.Exit] fails, whatever its function returns.
func (o *Operation[C, In, Out]) Streaming() *Operation[C, In, Out] {
	o.spec.streaming = true
	return o
}

// Idempotent says that running twice ends in the same state as running once.
func (o *Operation[C, In, Out]) Idempotent() *Operation[C, In, Out] {
	o.spec.idempotent = true
	return o
}

// Timeout sets the deadline used when the configuration of the kernel gives none. The kernel keeps it. It panics when
// d is not positive.
func (o *Operation[C, In, Out]) Timeout(d time.Duration) *Operation[C, In, Out] {
	if d <= 0 {
		panic(fmt.Sprintf("sdk: %s: a timeout of %s leaves no time", o.spec.name, d))
	}
	o.spec.timeout = durationpb.New(d)
	return o
}

// Preview sets the function that says what a call would do. It must do none of it. [Call.Context] is its context.
func (o *Operation[C, In, Out]) Preview(preview func(call *Call[C], in In) (Plan, error)) *Operation[C, In, Out] {
	o.preview = preview
	return o
}

// Render sets the function that turns a result into a line of text. A result comes back to be rendered without
// its arguments, maybe in a later process: in is what the call was given when this process remembers it, as it
// does for its last calls, and else zero. Use [Operation.Show] for more than text. It panics when Show is set.
func (o *Operation[C, In, Out]) Render(line func(in In, out Out) string) *Operation[C, In, Out] {
	o.line = line
	return o.shownOnce()
}

// Show sets the function that turns a result into a tree of nodes. A result reaches it without the name of its
// operation: the SDK takes the first registered one that has exactly the result's members. It panics when Render is set.
func (o *Operation[C, In, Out]) Show(node func(out Out) render.Node) *Operation[C, In, Out] {
	o.node = node
	return o.shownOnce()
}

func (o *Operation[C, In, Out]) shownOnce() *Operation[C, In, Out] {
	if o.node != nil && o.line != nil {
		panic(fmt.Sprintf("sdk: %s has Show and Render, of which only one can show a result", o.spec.name))
	}
	return o
}

func (o *Operation[C, In, Out]) about() *spec { return &o.spec }

func (o *Operation[C, In, Out]) shows() bool { return o.node != nil || o.line != nil }

func (o *Operation[C, In, Out]) run(ctx context.Context, f *frame, arguments *structpb.Struct) (*structpb.Struct, error) {
	var in In
	if err := o.spec.in.Decode(arguments, &in); err != nil {
		return nil, err
	}
	claim := o.spec.claim(arguments)
	if err := f.server.turns.enter(ctx, claim); err != nil {
		return nil, err
	}
	defer f.server.turns.leave(claim)
	out, err := o.handle(ctx, newCall[C](ctx, f), in)
	if err != nil {
		return nil, err
	}
	encode := o.spec.out.Write
	if !f.server.secrets.Empty() {
		encode = o.spec.out.Encode // it is looked through
	}
	payload, err := encode(out)
	if err != nil {
		return nil, fmt.Errorf("%s: the result does not fit its schema: %w", o.spec.name, unargued(err))
	}
	if o.line != nil {
		o.recent.remember(payload, arguments, in)
	}
	return payload, nil
}

func (o *Operation[C, In, Out]) plan(ctx context.Context, f *frame, arguments *structpb.Struct) (Plan, error) {
	var in In
	if err := o.spec.in.Decode(arguments, &in); err != nil {
		return Plan{}, err
	}
	if o.preview == nil {
		return Plan{}, errNoPreview
	}
	return o.preview(newCall[C](ctx, f), in)
}

func (o *Operation[C, In, Out]) show(payload *structpb.Struct) (render.Node, bool) {
	var out Out
	switch {
	case o.spec.out.DecodeWritten(payload, &out) != nil:
		return nil, false
	case o.node != nil:
		return o.node(out), true
	case o.line != nil:
		return render.Text(o.line(o.recent.recall(payload), out)), true
	default:
		return nil, true
	}
}
