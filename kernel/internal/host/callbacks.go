package host

import (
	"context"
	"log/slog"
	"sync"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
	"github.com/agentco/agent/proto/plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// callbacks is what a provider may ask of the kernel. It serves one process, so that no provider can speak for a call
// of another. Calls of the service that are not here answer UNIMPLEMENTED.
type callbacks struct {
	kernelv1.UnimplementedKernelCallbackServiceServer
	spec Spec
	log  *slog.Logger

	mu      sync.Mutex
	waiting map[string]chan *Report
}

func newCallbacks(spec Spec) *callbacks {
	return &callbacks{spec: spec, log: spec.Log, waiting: map[string]chan *Report{}}
}

// expect returns where the report of a call will arrive, until forget.
func (c *callbacks) expect(callID string) (report <-chan *Report, forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reports := make(chan *Report, 1)
	c.waiting[callID] = reports
	return reports, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, callID)
	}
}

// Emit takes the report of a cancelled call, and events of the provider's own.
func (c *callbacks) Emit(_ context.Context, r *kernelv1.EmitRequest) (*kernelv1.EmitResult, error) {
	if r.GetKind() != kernelv1.EventKind_EVENT_KIND_TOOL_RESULT {
		return c.emit(r)
	}
	if v := r.GetSchemaVersion(); v != plugin.SchemaVersion {
		return nil, status.Errorf(codes.InvalidArgument, "schema_version is %q, the kernel knows %q", v, plugin.SchemaVersion)
	}
	var event eventv1.ToolResultEvent
	if err := proto.Unmarshal(r.GetPayload(), &event); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "payload is not a ToolResultEvent: %v", err)
	}
	if event.GetError() == nil {
		return nil, status.Error(codes.InvalidArgument, "the report of a cancelled call is an error of category CANCELLED")
	}
	if err := checkValue("details", event.GetError().GetDetails()); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	report := reportFrom(event.GetError())
	if !c.deliver(event.GetToolCallId(), report) {
		c.log.Warn("a report came for a call that nobody waits for", "call", event.GetToolCallId())
		return nil, status.Errorf(codes.NotFound, "no call %q waits for a report", event.GetToolCallId())
	}
	// Its place is known when the call has ended, which waits for this report.
	return &kernelv1.EmitResult{Id: report.ID}, nil
}

func (c *callbacks) deliver(callID string, r *Report) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	reports, ok := c.waiting[callID]
	if !ok {
		return false
	}
	select {
	case reports <- r:
		return true
	default: // one report a call
		return false
	}
}

// Log writes the entries to the kernel's log.
func (c *callbacks) Log(ctx context.Context, r *kernelv1.LogRequest) (*kernelv1.LogResult, error) {
	if r.GetEntry() != nil {
		c.write(ctx, r.GetEntry())
	}
	for _, entry := range r.GetEntries() {
		c.write(ctx, entry)
	}
	return &kernelv1.LogResult{}, nil
}

func (c *callbacks) write(ctx context.Context, entry *logv1.LogEntry) {
	var attrs []slog.Attr
	if entry.GetLogger() != "" {
		attrs = append(attrs, slog.String("logger", entry.GetLogger()))
	}
	for name, value := range entry.GetFields().AsMap() {
		attrs = append(attrs, slog.Any(name, value))
	}
	c.log.LogAttrs(ctx, levelOf(entry.GetLevel()), entry.GetMessage(), attrs...)
}

func levelOf(l logv1.LogLevel) slog.Level {
	switch l {
	case logv1.LogLevel_LOG_LEVEL_TRACE:
		return slog.LevelDebug - 4
	case logv1.LogLevel_LOG_LEVEL_DEBUG:
		return slog.LevelDebug
	case logv1.LogLevel_LOG_LEVEL_WARN:
		return slog.LevelWarn
	case logv1.LogLevel_LOG_LEVEL_ERROR:
		return slog.LevelError
	case logv1.LogLevel_LOG_LEVEL_FATAL:
		return slog.LevelError + 4
	default:
		return slog.LevelInfo
	}
}
