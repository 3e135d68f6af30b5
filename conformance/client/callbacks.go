package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
)

// Callbacks serves KernelCallbackService and keeps what comes.
type Callbacks struct {
	kernelv1.UnimplementedKernelCallbackServiceServer
	delay time.Duration

	mu      sync.Mutex
	emitted []*kernelv1.EmitRequest
	logged  []*logv1.LogEntry
	refused error         // the last handshake that failed
	changed chan struct{} // closed, and made anew, at each arrival
}

func newCallbacks(delay time.Duration) *Callbacks {
	return &Callbacks{delay: delay, changed: make(chan struct{})}
}

func (c *Callbacks) server(options []grpc.ServerOption) *grpc.Server {
	s := grpc.NewServer(options...)
	kernelv1.RegisterKernelCallbackServiceServer(s, c)
	return s
}

// dawdle makes every answer late, when that was asked for.
func (c *Callbacks) dawdle(ctx context.Context) {
	if c.delay == 0 {
		return
	}
	select {
	case <-time.After(c.delay):
	case <-ctx.Done():
	}
}

// Emit keeps an event.
func (c *Callbacks) Emit(ctx context.Context, r *kernelv1.EmitRequest) (*kernelv1.EmitResult, error) {
	c.dawdle(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emitted = append(c.emitted, r)
	c.arrived()
	n := len(c.emitted)
	return &kernelv1.EmitResult{Id: fmt.Sprint(n), Sequence: int64(n)}, nil
}

// Log keeps the entries, those of older callers too.
func (c *Callbacks) Log(ctx context.Context, r *kernelv1.LogRequest) (*kernelv1.LogResult, error) {
	c.dawdle(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.GetEntry() != nil {
		c.logged = append(c.logged, r.GetEntry())
	}
	c.logged = append(c.logged, r.GetEntries()...)
	c.arrived()
	return &kernelv1.LogResult{}, nil
}

// Refused is why the provider was not let onto the callback channel; nil when it never came, or was let in.
func (c *Callbacks) Refused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func (c *Callbacks) arrived() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Logged is every log entry so far.
func (c *Callbacks) Logged() []*logv1.LogEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*logv1.LogEntry(nil), c.logged...)
}

// Emitted is every event so far.
func (c *Callbacks) Emitted() []*kernelv1.EmitRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*kernelv1.EmitRequest(nil), c.emitted...)
}

// Report waits until ctx ends for the report of a cancelled call.
func (c *Callbacks) Report(ctx context.Context, callID string) (*eventv1.ToolResultEvent, error) {
	for {
		c.mu.Lock()
		changed := c.changed
		found, err := c.find(callID)
		c.mu.Unlock()
		if found != nil || err != nil {
			return found, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("no report of call %s: %w", callID, ctx.Err())
		}
	}
}

func (c *Callbacks) find(callID string) (*eventv1.ToolResultEvent, error) {
	for _, r := range c.emitted {
		if r.GetKind() != kernelv1.EventKind_EVENT_KIND_TOOL_RESULT {
			continue
		}
		event := &eventv1.ToolResultEvent{}
		if err := proto.Unmarshal(r.GetPayload(), event); err != nil {
			return nil, fmt.Errorf("an emitted event is no ToolResultEvent: %w", err)
		}
		if event.GetToolCallId() == callID {
			return event, nil
		}
	}
	return nil, nil
}
