// Package sdktest runs a provider inside a test: the real services over an in-memory connection, or its real binary,
// and a kernel that keeps what the provider emits and logs.
package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk"
)

// patience is how long a report, and the end of a provider and of its goroutines may take. It is spent only where something is
// wrong.
var patience = 30 * time.Second

// Provider is what sdktest needs of an *sdk.Provider.
type Provider interface {
	Attach(s grpc.ServiceRegistrar, callbacks sdk.CallbackDialer) *sdk.Attachment
}

// Harness is a running, configured provider. It is safe for concurrent use.
type Harness struct {
	t        testing.TB
	kernel   *kernel
	tools    toolv1.ToolServiceClient
	commands slashcommandv1.SlashCommandServiceClient
	// isTool and isCommand are the operations of each service, asked once.
	isTool, isCommand map[string]bool
	// Dir is the working directory of calls: the process's own unless changed before the first one.
	Dir string
}

// Result is everything that came of one call.
type Result struct {
	// Events in the order they came, the last one the result or error. Events of a slash command have the tool's form.
	Events []*toolv1.ToolEvent
	// Result is the payload, nil after an error or a cancellation.
	Result map[string]any
	// Err is the error event, nil unless there was one.
	Err *toolv1.ToolError
	// Stdout and Stderr are the output chunks put together.
	Stdout, Stderr string
	// Status is how the stream ended: nil, or a gRPC status after a cancellation.
	Status error
	// Report is what a cancelled call sent over the callback channel.
	Report *toolv1.ToolError
}

// Messages are the progress messages of the call.
func (r *Result) Messages() []string {
	var out []string
	for _, event := range r.Events {
		if p := event.GetProgress(); p != nil {
			out = append(out, p.GetMessage())
		}
	}
	return out
}

// Start runs and configures p, and ends it with the test. It fails the test when the configuration is refused, when
// p does not end in good order, and when p leaves goroutines behind.
func Start(t testing.TB, p Provider, config map[string]any) *Harness {
	t.Helper()
	h := attach(t, p)
	require.NoError(t, h.configure(t.Context(), config))
	return h
}

// Configure runs p and gives back how it took the configuration: nil, or a gRPC status with a ToolError in its
// details, which [ToolError] extracts.
func Configure(t testing.TB, p Provider, config map[string]any) error {
	t.Helper()
	return attach(t, p).configure(t.Context(), config)
}

// ToolError is the ToolError in the details of a gRPC status, or nil.
func ToolError(err error) *toolv1.ToolError {
	for _, detail := range status.Convert(err).Details() {
		if e, ok := detail.(*toolv1.ToolError); ok {
			return e
		}
	}
	return nil
}

func attach(t testing.TB, p Provider) *Harness {
	t.Helper()
	k := newKernel(t)
	lis := bufconn.Listen(1 << 20)
	s := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	marked := newMark()
	var attachment *sdk.Attachment
	marked.do(func() {
		attachment = p.Attach(s, k.dial)
		go func() { _ = s.Serve(lis) }()
	})
	conn := connect(t, lis)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, attachment.Close(ctx))
		require.NoError(t, conn.Close())
		s.Stop()
		require.Empty(t, marked.left(), "goroutines of the provider that outlive its Close")
	})
	return newHarness(t, k, conn)
}

func newHarness(t testing.TB, k *kernel, conn grpc.ClientConnInterface) *Harness {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	h := &Harness{
		t: t, kernel: k, Dir: dir, isTool: map[string]bool{}, isCommand: map[string]bool{},
		tools: toolv1.NewToolServiceClient(conn), commands: slashcommandv1.NewSlashCommandServiceClient(conn),
	}
	schema, err := h.tools.GetSchema(t.Context(), &toolv1.GetSchemaRequest{})
	if status.Code(err) != codes.Unimplemented {
		require.NoError(t, err)
	}
	for _, tool := range schema.GetTools() {
		h.isTool[tool.GetName()] = true
	}
	capabilities, err := h.commands.GetCapabilities(t.Context(), &slashcommandv1.GetCapabilitiesRequest{})
	if status.Code(err) != codes.Unimplemented {
		require.NoError(t, err)
	}
	for _, command := range capabilities.GetCommands() {
		h.isCommand[command.GetName()] = true
	}
	return h
}

func connect(t testing.TB, lis *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///provider",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	require.NoError(t, err)
	return conn
}

func (h *Harness) configure(ctx context.Context, config map[string]any) error {
	block := object(h.t, config)
	_, err := h.tools.Configure(ctx, &toolv1.ConfigureRequest{Config: block})
	if status.Code(err) == codes.Unimplemented {
		_, err = h.commands.Configure(ctx, &slashcommandv1.ConfigureRequest{Config: block})
	}
	return err
}

// Tools gives the schema of every tool.
func (h *Harness) Tools(ctx context.Context) []*toolv1.ToolSchema {
	h.t.Helper()
	r, err := h.tools.GetSchema(ctx, &toolv1.GetSchemaRequest{})
	require.NoError(h.t, err)
	return r.GetTools()
}

// Commands gives the specification of every slash command.
func (h *Harness) Commands(ctx context.Context) []*slashcommandv1.SlashCommandSpec {
	h.t.Helper()
	r, err := h.commands.GetCapabilities(ctx, &slashcommandv1.GetCapabilitiesRequest{})
	require.NoError(h.t, err)
	return r.GetCommands()
}

// Call runs a tool or slash command to its end. Cancelling ctx cancels the call; the report is then waited for.
func (h *Harness) Call(ctx context.Context, name string, arguments map[string]any) *Result {
	h.t.Helper()
	return h.CallIn(ctx, h.Dir, name, arguments)
}

// CallIn is Call in another working directory.
func (h *Harness) CallIn(ctx context.Context, dir, name string, arguments map[string]any) *Result {
	h.t.Helper()
	return h.Watch(ctx, dir, name, arguments, func(*toolv1.ToolEvent) {})
}

// Watch is CallIn with a look at each event as it comes: to cancel at the right moment, or to be a slow reader. Package
// toolv1 is "github.com/agentco/agent/proto/pluggableharness/tool/v1".
func (h *Harness) Watch(ctx context.Context, dir, name string, arguments map[string]any, see func(*toolv1.ToolEvent)) *Result {
	h.t.Helper()
	if err := ctx.Err(); err != nil {
		return &Result{Status: status.FromContextError(err).Err()} // it may reach nobody, who then reports nothing
	}
	call := h.call(dir, name, arguments)
	reported := h.kernel.expect(call.GetId())
	// A kernel sends no deadline along: the provider could end the stream at it before ctx is done here, and then
	// nothing would tell a cancellation.
	rpc, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	receive := h.open(rpc, call)
	result := &Result{}
	var stdout, stderr strings.Builder
	for {
		event, err := receive()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				result.Status = err
			}
			break
		}
		result.Events = append(result.Events, event)
		if chunk := event.GetOutputChunk(); chunk.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDERR {
			stderr.Write(chunk.GetData())
		} else {
			stdout.Write(chunk.GetData())
		}
		see(event)
	}
	result.Stdout, result.Stderr = stdout.String(), stderr.String()
	if result.finish(ctx) {
		result.Report = h.reportOf(ctx, call, reported)
	}
	return result
}

// finish reads the last event. It reports whether there was none, since the call was cancelled.
func (r *Result) finish(ctx context.Context) (cancelled bool) {
	if len(r.Events) > 0 {
		last := r.Events[len(r.Events)-1]
		r.Err = last.GetError()
		if payload := last.GetResult().GetPayload(); payload != nil {
			r.Result = payload.AsMap()
		}
	}
	return ctx.Err() != nil && r.Err == nil && r.Result == nil
}

// reportOf waits for the report of a cancelled call, and asks for it as a kernel does: the call may have ended meanwhile. The
// answer comes after the report.
func (h *Harness) reportOf(ctx context.Context, call *toolv1.ToolCall, reported <-chan *toolv1.ToolError) *toolv1.ToolError {
	asking, end := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer end()
	asking = metadata.AppendToOutgoingContext(asking, plugin.ReportHeader, call.GetId())
	if h.asTool(call.GetToolName()) {
		_, _ = h.tools.Describe(asking, &toolv1.DescribeRequest{})
	} else {
		_, _ = h.commands.Describe(asking, &slashcommandv1.DescribeRequest{})
	}
	select {
	case report := <-reported:
		return report
	default:
		return nil
	}
}

// Preview asks what a call would do. The error is a gRPC status.
func (h *Harness) Preview(ctx context.Context, name string, arguments map[string]any) (*renderv1.RenderTree, error) {
	h.t.Helper()
	call := h.call(h.Dir, name, arguments)
	if h.asTool(name) {
		r, err := h.tools.Preview(ctx, &toolv1.PreviewRequest{Call: call})
		return r.GetPreview(), err
	}
	r, err := h.commands.Preview(ctx, &slashcommandv1.PreviewRequest{Call: commandCall(call)})
	return r.GetPreview(), err
}

// Render asks the tools to show a payload, and the commands one that no tool knows. The error is a gRPC status.
func (h *Harness) Render(ctx context.Context, payload map[string]any) (*renderv1.RenderTree, error) {
	h.t.Helper()
	result := object(h.t, payload)
	text, err := protojson.Marshal(result)
	require.NoError(h.t, err)
	if len(h.isTool) > 0 {
		r, err := h.tools.Render(ctx, &toolv1.RenderRequest{Payload: text, SchemaVersion: plugin.SchemaVersion})
		if len(h.isCommand) == 0 || status.Code(err) != codes.InvalidArgument {
			return r.GetTree(), err
		}
	}
	r, err := h.commands.Render(ctx, &slashcommandv1.RenderRequest{Payload: text, SchemaVersion: plugin.SchemaVersion})
	return r.GetTree(), err
}

func (h *Harness) call(dir, name string, arguments map[string]any) *toolv1.ToolCall {
	h.t.Helper()
	return &toolv1.ToolCall{Id: h.kernel.nextID(), ToolName: name, Arguments: object(h.t, arguments), CallContext: &commonv1.CallContext{
		SessionId: "01J00000000000000000000001", TurnId: "01J00000000000000000000002", WorkingDirectory: dir,
	}}
}

// open starts a call of whichever service has the operation.
func (h *Harness) open(ctx context.Context, call *toolv1.ToolCall) func() (*toolv1.ToolEvent, error) {
	h.t.Helper()
	if h.asTool(call.GetToolName()) {
		stream, err := h.tools.Invoke(ctx, &toolv1.InvokeRequest{Call: call})
		return func() (*toolv1.ToolEvent, error) {
			if err != nil {
				return nil, err
			}
			r, err := stream.Recv()
			return r.GetEvent(), err
		}
	}
	stream, err := h.commands.Invoke(ctx, &slashcommandv1.InvokeRequest{Call: commandCall(call)})
	return func() (*toolv1.ToolEvent, error) {
		if err != nil {
			return nil, err
		}
		r, err := stream.Recv()
		return toolEvent(r.GetEvent()), err
	}
}

// asTool reports whether an operation is asked of the tools; so is one that nobody has, when there are any.
func (h *Harness) asTool(name string) bool {
	return h.isTool[name] || len(h.isTool) > 0 && !h.isCommand[name]
}

// object makes a message of any map that encoding/json takes, so that tests write Go values: []string, structs, int64.
func object(t testing.TB, m map[string]any) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	if m == nil {
		return s
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, protojson.Unmarshal(text, s))
	return s
}
