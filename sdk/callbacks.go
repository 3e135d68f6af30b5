package sdk

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/internal/secret"
)

// CallbackDialer opens the connection on which the kernel serves its callbacks. Its caller closes what it returns
// when it is an io.Closer. It is never called twice at the same time.
type CallbackDialer func() (grpc.ClientConnInterface, error)

// kernelPatience is how long a kernel may take for what it is told. It is for one that has stopped: a dead one is known to be,
// and one that is alive takes it at once, unless the machine has no time for it. Who serves no callbacks is known to after the
// five seconds for which go-plugin waits for an announcement.
const kernelPatience = 30 * time.Second

// callbacks is the way back to the kernel. The kernel announces the channel and go-plugin forgets an announcement
// that nobody takes up within seconds, so a provider dials at the first chance, in the background, and again at
// later calls while it has not succeeded.
type callbacks struct {
	dial    CallbackDialer
	logs    *logQueue
	spill   *spill
	secrets *secret.Set
	alive   context.Context // ends when the kernel is known to be gone
	lose    context.CancelFunc

	mu      sync.Mutex
	client  kernelv1.KernelCallbackServiceClient
	conn    grpc.ClientConnInterface
	pending chan struct{} // closed when the dial under way has ended; nil when none is
	missed  bool          // a dial has ended in vain
	closed  bool
}

func newCallbacks(dial CallbackDialer) *callbacks {
	c := &callbacks{dial: dial, secrets: &secret.Set{}, spill: &spill{out: os.Stderr}}
	c.alive, c.lose = context.WithCancel(context.Background())
	c.logs = newLogQueue(c)
	return c
}

// reachBy sets how to dial, for a transport that is known only once it is up.
func (c *callbacks) reachBy(dial CallbackDialer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dial = dial
}

// prepare starts dialling unless that is under way, done, or pointless.
func (c *callbacks) prepare() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dial == nil || c.client != nil || c.pending != nil || c.closed {
		return
	}
	c.pending = make(chan struct{})
	go c.connect(c.dial, c.pending)
}

func (c *callbacks) connect(dial CallbackDialer, pending chan struct{}) {
	conn, err := dial()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = nil
	close(pending)
	switch {
	case err != nil:
		c.missed = true
	case c.closed:
		_ = closeConn(conn)
	default:
		c.conn, c.client = conn, kernelv1.NewKernelCallbackServiceClient(conn)
	}
}

// connected waits for the channel until ctx ends.
func (c *callbacks) connected(ctx context.Context) (kernelv1.KernelCallbackServiceClient, error) {
	c.prepare()
	c.mu.Lock()
	client, pending := c.client, c.pending
	c.mu.Unlock()
	if client != nil {
		return client, nil
	}
	if pending == nil {
		return nil, ErrNoKernel
	}
	select {
	case <-pending:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if client = c.ready(); client == nil {
		return nil, ErrNoKernel
	}
	return client, nil
}

// likely is the client, for what can also go elsewhere: a channel that is being dialled is waited for until ctx ends, unless
// that was in vain before.
func (c *callbacks) likely(ctx context.Context) kernelv1.KernelCallbackServiceClient {
	c.mu.Lock()
	client, missed := c.client, c.missed
	c.mu.Unlock()
	if client == nil && !missed {
		client, _ = c.connected(ctx)
	}
	return client
}

// ready is the client, or nil while there is none. It waits for nothing.
func (c *callbacks) ready() kernelv1.KernelCallbackServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client
}

// emitCancelled hands the report of a cancelled call to the kernel.
func (c *callbacks) emitCancelled(ctx context.Context, call *toolv1.ToolCall, report *toolv1.ToolError) error {
	payload, err := proto.Marshal(&eventv1.ToolResultEvent{
		ToolCallId: call.GetId(),
		Outcome:    &eventv1.ToolResultEvent_Error{Error: bounded(secret.Clean(c.secrets, report), messageBytes)},
	})
	if err != nil {
		return err
	}
	_, err = c.emit(ctx, &kernelv1.EmitRequest{
		SessionId:     call.GetCallContext().GetSessionId(),
		Kind:          kernelv1.EventKind_EVENT_KIND_TOOL_RESULT,
		SchemaVersion: plugin.SchemaVersion,
		Payload:       payload,
	})
	return err
}

// logger gives a logger whose records reach the kernel, or standard error while there is no channel.
func (c *callbacks) logger(sessionID, name string) *slog.Logger {
	return slog.New(&logHandler{queue: c.logs, session: sessionID, name: name})
}

// close sends the log entries that wait and closes the channel.
func (c *callbacks) close() error {
	c.logs.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	conn := c.conn
	c.conn, c.client = nil, nil
	return closeConn(conn)
}

func closeConn(conn grpc.ClientConnInterface) error {
	if closer, ok := conn.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}
