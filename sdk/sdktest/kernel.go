package sdktest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// kernel serves the callbacks of a harness.
type kernel struct {
	kernelv1.UnimplementedKernelCallbackServiceServer
	t   testing.TB
	lis *bufconn.Listener

	mu      sync.Mutex
	calls   int
	emitted int64
	events  []*kernelv1.EmitRequest
	waiting map[string]chan *toolv1.ToolError
	logs    []*logv1.LogEntry
}

func newKernel(t testing.TB) *kernel {
	k := &kernel{t: t, waiting: map[string]chan *toolv1.ToolError{}, lis: bufconn.Listen(1 << 20)}
	s := k.server(nil)
	go func() { _ = s.Serve(k.lis) }()
	t.Cleanup(s.Stop)
	return k
}

func (k *kernel) server(options []grpc.ServerOption) *grpc.Server {
	s := grpc.NewServer(options...)
	kernelv1.RegisterKernelCallbackServiceServer(s, k)
	return s
}

func (k *kernel) dial() (grpc.ClientConnInterface, error) { return connect(k.t, k.lis), nil }

func (k *kernel) nextID() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls++
	return fmt.Sprintf("call_%d", k.calls)
}

// expect gives the channel that the report of a call will come on.
func (k *kernel) expect(call string) <-chan *toolv1.ToolError {
	k.mu.Lock()
	defer k.mu.Unlock()
	reported := make(chan *toolv1.ToolError, 1)
	k.waiting[call] = reported
	return reported
}

// Emit takes the report of a cancelled call, and keeps every other event.
func (k *kernel) Emit(_ context.Context, r *kernelv1.EmitRequest) (*kernelv1.EmitResult, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.GetKind() != kernelv1.EventKind_EVENT_KIND_TOOL_RESULT {
		k.events = append(k.events, r)
	} else if err := k.report(r.GetPayload()); err != nil {
		return nil, err
	}
	k.emitted++
	return &kernelv1.EmitResult{Id: fmt.Sprintf("event_%d", k.emitted), Sequence: k.emitted}, nil
}

// report hands on the report of a cancelled call. One that nobody waits for, or that comes twice, is a fault.
func (k *kernel) report(payload []byte) error {
	event := &eventv1.ToolResultEvent{}
	if err := proto.Unmarshal(payload, event); err != nil {
		return err
	}
	reported, ok := k.waiting[event.GetToolCallId()]
	if !ok {
		return fmt.Errorf("a report of call %q, which is not running", event.GetToolCallId())
	}
	delete(k.waiting, event.GetToolCallId())
	reported <- event.GetError()
	return nil
}

// Emitted is what calls have emitted so far, the reports of cancelled ones apart.
func (h *Harness) Emitted() []*kernelv1.EmitRequest {
	h.kernel.mu.Lock()
	defer h.kernel.mu.Unlock()
	return append([]*kernelv1.EmitRequest(nil), h.kernel.events...)
}

// Log keeps what the provider logs.
func (k *kernel) Log(_ context.Context, r *kernelv1.LogRequest) (*kernelv1.LogResult, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.GetEntry() != nil {
		k.logs = append(k.logs, r.GetEntry())
	}
	k.logs = append(k.logs, r.GetEntries()...)
	return &kernelv1.LogResult{}, nil
}

// Logs is what the provider has logged so far.
func (h *Harness) Logs() []*logv1.LogEntry {
	h.kernel.mu.Lock()
	defer h.kernel.mu.Unlock()
	return append([]*logv1.LogEntry(nil), h.kernel.logs...)
}
