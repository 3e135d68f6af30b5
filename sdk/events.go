package sdk

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/schema"
	"github.com/agentco/agent/sdk/internal/secret"
)

const (
	// messageBytes is what fits in a gRPC message on the default limit of 4 MiB, with room for the envelope.
	messageBytes = 4<<20 - 64<<10
	// textBytes is the most of a text that is meant for one look.
	textBytes = 64 << 10
	// unreadBytes is how much of a call gRPC takes before it waits for a reader. It looks at what it has, not at what comes.
	unreadBytes = 64 << 10
)

// events is the outgoing side of one call. It keeps the grammar (at most one exit status, nothing after the end),
// and, once the call is cancelled and the stream no longer delivers, keeps what the report needs.
type events struct {
	ctx       context.Context
	send      func(*toolv1.ToolEvent) error
	operation string
	streaming bool
	secrets   *secret.Set
	steps     steps

	mu      sync.Mutex
	closed  bool
	exited  bool
	refused *undeclared // the first of what the operation may not send
	report  *structpb.Struct
	output  tail
	chunk   []byte // what is being sent of the output
	begun   int    // bytes sent so far, counted until they are unreadBytes
}

// emit sends one event. It returns false when the event can no longer be delivered.
func (e *events) emit(event *toolv1.ToolEvent) bool {
	err := e.deliver(event)
	if e.begun < unreadBytes {
		e.begun += proto.Size(event)
	}
	return err == nil && e.ctx.Err() == nil
}

// deliver sends one event, and none after a cancellation. The lock is held meanwhile: a gRPC stream takes one writer at a
// time.
func (e *events) deliver(event *toolv1.ToolEvent) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if !e.secrets.Empty() {
		event = secret.Clean(e.secrets, event)
	}
	if e.begun < unreadBytes {
		return e.send(event)
	}
	return e.deliverUnlessCancelled(event)
}

// deliverUnlessCancelled is for an event that may have to wait: a stream waits while the kernel reads nothing, which a
// provider that must end cannot. After a cancellation the event is left to a goroutine, which ends with the stream.
func (e *events) deliverUnlessCancelled(event *toolv1.ToolEvent) error {
	sent := make(chan error, 1)
	go func() { sent <- e.send(event) }()
	select {
	case err := <-sent:
		return err
	case <-e.ctx.Done():
		e.chunk = nil // it is the goroutine's now
		return e.ctx.Err()
	}
}

func (e *events) status(message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.flushStepsLocked()
	e.emit(progressEvent(clipped(e.secrets, message), nil))
}

func (e *events) progress(done, total int) {
	if e.steps.set(done, total) {
		go e.pace()
	}
}

func (e *events) exit(code int, signal string) {
	status := &toolv1.ToolEvent_ExitStatus{ExitCode: int32(code)}
	if signal != "" {
		status.Signal = proto.String(clipped(e.secrets, signal))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed || e.exited:
		return
	case !e.streaming:
		_ = e.refuseLocked("sent an exit status") // the call tells it
		return
	}
	e.exited = true
	e.flushStepsLocked()
	e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_ExitStatus_{ExitStatus: status}})
}

func (e *events) partial(payload any) error {
	encoded, err := payloadOf(payload)
	if err != nil {
		return fmt.Errorf("partial result: %w", err)
	}
	if size := proto.Size(encoded); size > messageBytes {
		return fmt.Errorf("partial result: it has %d bytes and one message carries at most %d; send less at a time", size, messageBytes)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch cancelled := e.ctx.Err() != nil; {
	case e.closed:
		return errCallOver
	case cancelled:
		e.report = encoded
	case !e.streaming:
		return e.refuseLocked("sent a partial result")
	}
	if e.streaming {
		e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{Payload: encoded}}})
	}
	return nil
}

// note is partial for a sentence. It may come at any time, and is dropped where no partial result may be.
func (e *events) note(text string) {
	if e.streaming || e.ctx.Err() != nil {
		_ = e.partial(map[string]any{"note": text}) // a map of one string always encodes
	}
}

// write sends output. A chunk that the stream refuses because the call was cancelled goes to the report.
func (e *events) write(stream toolv1.OutputStream, p []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return errCallOver
	case !e.streaming:
		return e.refuseLocked("wrote output")
	}
	e.chunk = append(e.chunk[:0], p...) // it may be sent later than p is the caller's again
	delivered := e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{
		Stream: stream, Data: e.chunk,
	}}})
	if !delivered {
		e.output.write(p)
	}
	return nil
}

// end sends the last event of the call and closes it.
func (e *events) end(last *toolv1.ToolEvent) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flushStepsLocked()
	e.closed = true
	e.steps.end()
	return e.deliver(last)
}

// close drops whatever is sent from here on.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.steps.end()
}

// payloadOf makes a payload of a map or of whatever encoding/json makes an object of.
func payloadOf(v any) (*structpb.Struct, error) {
	switch m := v.(type) {
	case *structpb.Struct:
		return secret.Clean(nil, m), nil
	case map[string]any:
		return looseStruct(m), nil
	}
	return schema.Free(v)
}

// clipped keeps a text to what somebody can look at, and UTF-8. Secrets go first: a part of one would not be known.
func clipped(secrets *secret.Set, text string) string {
	text = secrets.Text(text)
	if len(text) > textBytes {
		text = text[:textBytes] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
