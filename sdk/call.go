package sdk

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Call is one call of an operation, as its function sees it. Its methods may be used from several goroutines,
// until the function returns; what comes later is dropped.
type Call[C any] struct {
	// Config is the provider's configuration, after Setup.
	Config *C
	// ID names the call; SessionID and TurnID are ULIDs of the kernel's.
	ID, SessionID, TurnID string
	// Dir is the absolute directory that relative paths in arguments resolve against. It may be empty.
	Dir string

	ctx   context.Context
	frame *frame
}

// frame is a call with its types forgotten.
type frame struct {
	server    *server
	config    any
	call      *toolv1.ToolCall
	operation *spec
	events    *events
	grace     grace
	preview   bool
	rendering chan *renderv1.RenderTree // what shows a small result, closed behind it; nil when nobody has asked for that
}

// logger is made when somebody logs, which most calls do not.
func (f *frame) logger() *slog.Logger {
	return f.server.callbacks.logger(f.call.GetCallContext().GetSessionId(), f.server.name+"."+f.operation.name)
}

func newCall[C any](ctx context.Context, f *frame) *Call[C] {
	where := f.call.GetCallContext()
	c := &Call[C]{ID: f.call.GetId(), SessionID: where.GetSessionId(), TurnID: where.GetTurnId(), Dir: where.GetWorkingDirectory(), ctx: ctx, frame: f}
	c.Config, _ = f.config.(*C)
	return c
}

// Context is the context of the call, the same that a [Handler] is given.
func (c *Call[C]) Context() context.Context { return c.ctx }

// Grace is a context for clean-up work after a cancellation: it ends when the grace time (5 s) after the
// cancellation is over, or when the call is.
func (c *Call[C]) Grace() context.Context { return c.frame.grace.of(c.frame) }

// Path makes p absolute against Dir. It reads no file and follows no link.
func (c *Call[C]) Path(p string) string {
	if filepath.IsAbs(p) || c.Dir == "" {
		return filepath.Clean(p)
	}
	return filepath.Join(c.Dir, p)
}

// Status sends a progress message. Each one is sent.
func (c *Call[C]) Status(format string, args ...any) {
	c.frame.events.status(fmt.Sprintf(format, args...))
}

// Progress says how much is done; total is 0 when it is not known. It may be called at every step: it waits for nobody,
// the newest step is sent ten times a second, and the last one before the end of the call.
func (c *Call[C]) Progress(done, total int) { c.frame.events.progress(done, total) }

// Stdout sends what is written to it as output, in chunks of at most 32 KiB, exactly as it is. Write blocks while
// the kernel is slow to read, at most until a cancellation. After it nothing is sent any more: the last 64 KiB go into the
// report instead, and Write gives no error for it. The value of a sensitive attribute is found within one Write, not when
// it is cut by two.
func (c *Call[C]) Stdout() io.Writer {
	return &output{events: c.frame.events, stream: toolv1.OutputStream_OUTPUT_STREAM_STDOUT}
}

// Stderr is like Stdout, for the other stream. The order between the two is the order of the writes.
func (c *Call[C]) Stderr() io.Writer {
	return &output{events: c.frame.events, stream: toolv1.OutputStream_OUTPUT_STREAM_STDERR}
}

// Partial sends a part of the result: a map with string keys, or anything that encoding/json makes an object of.
// After a cancellation the last one is the report of what had already happened.
func (c *Call[C]) Partial(payload any) error { return c.frame.events.partial(payload) }

// Report says, after a cancellation, what had already happened, in a sentence for a person.
func (c *Call[C]) Report(format string, args ...any) {
	c.frame.events.note(fmt.Sprintf(format, args...))
}

// Exit sends how the child process of the call ended. With a signal's name ("SIGTERM") the code is 128 plus
// its number. Only the first one is sent. It is for operations that are declared Streaming.
func (c *Call[C]) Exit(code int, signal string) { c.frame.events.exit(code, signal) }

// Log writes to the kernel's log, or to standard error while the kernel takes none.
func (c *Call[C]) Log() *slog.Logger { return c.frame.logger() }
