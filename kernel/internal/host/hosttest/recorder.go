package hosttest

import (
	"sync"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Recorder keeps the events of a call and tells when one comes. Events may be read once the call is over.
type Recorder struct {
	Events []*toolv1.ToolEvent
	Came   chan struct{}
	mu     sync.Mutex
}

// NewRecorder returns an empty one.
func NewRecorder() *Recorder { return &Recorder{Came: make(chan struct{}, 1)} }

// Show takes an event.
func (r *Recorder) Show(e *toolv1.ToolEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Events = append(r.Events, e)
	select {
	case r.Came <- struct{}{}:
	default:
	}
}

// Names are the kinds of the events so far, in the wire's words.
func (r *Recorder) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := []string{}
	for _, e := range r.Events {
		m := e.ProtoReflect()
		names = append(names, string(m.WhichOneof(m.Descriptor().Oneofs().ByName("event")).Name()))
	}
	return names
}
