package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

const (
	// chunkBytes is the size of the largest output chunk: large enough for full speed, small enough that a
	// slow reader holds up little.
	chunkBytes = 32 << 10
	// reportBytes is how much output a cancellation report carries.
	reportBytes = 64 << 10
	// stepInterval is the least time between two progress events of one call.
	stepInterval = 100 * time.Millisecond
	// messageBytes is what fits in a gRPC message on the default limit of 4 MiB, with room for the envelope.
	messageBytes = 4<<20 - 64<<10
)

// events is the outgoing side of one call. It keeps the grammar (at most one exit status, nothing after the end),
// and, once the call is cancelled and the stream no longer delivers, keeps what the report needs.
type events struct {
	ctx       context.Context
	send      func(*toolv1.ToolEvent) error
	streaming bool

	mu       sync.Mutex
	closed   bool
	exited   bool
	lastStep time.Time
	report   *structpb.Struct
	output   tail
}

// emit sends one event. The lock is held while it is sent: a gRPC stream takes one writer at a time. It returns
// false when the event can no longer be delivered.
func (e *events) emit(event *toolv1.ToolEvent) bool {
	return e.send(event) == nil && e.ctx.Err() == nil
}

func (e *events) progress(message string, fraction *float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: &toolv1.ToolEvent_Progress{
		Message: strings.ToValidUTF8(message, "\uFFFD"), FractionComplete: fraction,
	}}})
}

func (e *events) steps(done, total int) {
	e.mu.Lock()
	now := time.Now()
	due := now.Sub(e.lastStep) >= stepInterval || total > 0 && done >= total
	if due {
		e.lastStep = now
	}
	e.mu.Unlock()
	switch {
	case !due:
	case total > 0:
		fraction := min(1, max(0, float64(done)/float64(total)))
		e.progress(fmt.Sprintf("%d of %d", done, total), &fraction)
	default:
		e.progress(fmt.Sprint(done), nil)
	}
}

func (e *events) exit(code int, signal string) {
	status := &toolv1.ToolEvent_ExitStatus{ExitCode: int32(code)}
	if signal != "" {
		status.Signal = proto.String(signal)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.exited {
		return
	}
	e.exited = true
	e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_ExitStatus_{ExitStatus: status}})
}

func (e *events) partial(payload any) error {
	encoded, err := payloadOf(payload)
	if err != nil {
		return fmt.Errorf("partial result: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch cancelled := e.ctx.Err() != nil; {
	case e.closed:
		return errCallOver
	case cancelled:
		e.report = encoded
	case !e.streaming:
		return errNotStreaming
	}
	if e.streaming {
		e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{Payload: encoded}}})
	}
	return nil
}

// write sends output. A chunk that the stream refuses because the call was cancelled goes to the report.
func (e *events) write(stream toolv1.OutputStream, p []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return errCallOver
	case !e.streaming:
		return errNotStreaming
	}
	delivered := e.emit(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{
		Stream: stream, Data: p,
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
	e.closed = true
	return e.send(last)
}

// close drops whatever is sent from here on.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// output is one stream of a call as an io.Writer.
type output struct {
	events *events
	stream toolv1.OutputStream
}

func (o *output) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		chunk := p[:min(len(p), chunkBytes)]
		if err := o.events.write(o.stream, chunk); err != nil {
			return n, err
		}
		n, p = n+len(chunk), p[len(chunk):]
	}
	return n, nil
}

// tail keeps the last reportBytes written to it.
type tail struct{ kept []byte }

func (t *tail) write(p []byte) {
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - reportBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
}

// payloadOf makes a payload of a map or of whatever encoding/json makes an object of.
func payloadOf(v any) (*structpb.Struct, error) {
	switch m := v.(type) {
	case *structpb.Struct:
		return m, nil
	case map[string]any:
		return looseStruct(m), nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	s := &structpb.Struct{}
	return s, protojson.Unmarshal(text, s)
}
