package conformance

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// service is one category of a provider. The messages of slashcommand.v1 have the fields and numbers of those of tool.v1
// but for the list of operations, so the tool's stand for both on the wire.
type service struct {
	conn     grpc.ClientConnInterface
	category commonv1.Category
}

var categories = []commonv1.Category{commonv1.Category_CATEGORY_TOOL, commonv1.Category_CATEGORY_SLASHCOMMAND}

// categoryName is a category as people write it.
func categoryName(c commonv1.Category) string {
	return strings.ToLower(strings.TrimPrefix(c.String(), "CATEGORY_"))
}

func (s service) path(method string) string {
	if s.category == commonv1.Category_CATEGORY_TOOL {
		return "/pluggableharness.tool.v1.ToolService/" + method
	}
	return "/pluggableharness.slashcommand.v1.SlashCommandService/" + method
}

// listing is the method that lists operations.
func (s service) listing() string {
	if s.category == commonv1.Category_CATEGORY_TOOL {
		return "GetSchema"
	}
	return "GetCapabilities"
}

// surface is what a category offers.
type surface struct {
	category   commonv1.Category
	operations []operation
	prompts    []*commonv1.PromptExpansionSpec
	config     *configv1.ConfigSchema
	hooks      []commonv1.HookPoint
}

// operation is a tool, or a command in a tool's form.
type operation struct {
	category commonv1.Category
	*toolv1.ToolSchema
}

// String is "tool read_file" or "/release".
func (o operation) String() string {
	if o.category == commonv1.Category_CATEGORY_TOOL {
		return o.GetName()
	}
	return "/" + o.GetName()
}

func (s service) list(ctx context.Context) (surface, error) {
	if s.category == commonv1.Category_CATEGORY_TOOL {
		r := &toolv1.GetSchemaResponse{}
		err := s.conn.Invoke(ctx, s.path("GetSchema"), &toolv1.GetSchemaRequest{}, r)
		out := surface{category: s.category, prompts: r.GetSlashCommands(), config: r.GetConfigSchema(), hooks: r.GetSupportedHookPoints()}
		for _, t := range r.GetTools() {
			out.operations = append(out.operations, operation{s.category, t})
		}
		return out, err
	}
	r := &slashcommandv1.GetCapabilitiesResponse{}
	err := s.conn.Invoke(ctx, s.path("GetCapabilities"), &slashcommandv1.GetCapabilitiesRequest{}, r)
	out := surface{category: s.category, config: r.GetConfigSchema(), hooks: r.GetSupportedHookPoints()}
	for _, c := range r.GetCommands() {
		out.operations = append(out.operations, operation{s.category, &toolv1.ToolSchema{
			Name: c.GetName(), Description: c.GetDescription(), InputSchema: c.GetInputSchema(), Kind: c.GetKind(), Risk: c.GetRisk(),
			Concurrency: c.GetConcurrency(), Streaming: c.GetStreaming(), DefaultTimeout: c.DefaultTimeout, Idempotent: c.GetIdempotent(),
		}})
	}
	return out, err
}

func (s service) describe(ctx context.Context) (*commonv1.ProducerRef, error) {
	r := &toolv1.DescribeResponse{}
	err := s.conn.Invoke(ctx, s.path("Describe"), &toolv1.DescribeRequest{}, r)
	return r.GetProducer(), err
}

func (s service) configure(ctx context.Context, r *toolv1.ConfigureRequest) error {
	return s.conn.Invoke(ctx, s.path("Configure"), r, &toolv1.ConfigureResponse{})
}

func (s service) preview(ctx context.Context, call *toolv1.ToolCall) (*toolv1.PreviewResponse, error) {
	r := &toolv1.PreviewResponse{}
	return r, s.conn.Invoke(ctx, s.path("Preview"), &toolv1.PreviewRequest{Call: call}, r)
}

func (s service) render(ctx context.Context, payload []byte, version string) (*toolv1.RenderResponse, error) {
	r := &toolv1.RenderResponse{}
	return r, s.conn.Invoke(ctx, s.path("Render"), &toolv1.RenderRequest{Payload: payload, SchemaVersion: version}, r)
}

// transcript is one call from its beginning to its end.
type transcript struct {
	operation operation
	label     string // what was tried, for people
	call      *toolv1.ToolCall
	events    []*toolv1.ToolEvent
	err       error  // how the stream ended; nil for status OK
	died      string // the end of the process that ended the call; empty when there was none
	took      time.Duration
}

// invoke runs a call to its end. see is told each event as it comes; it may be nil.
func (s service) invoke(ctx context.Context, op operation, label string, call *toolv1.ToolCall, see func(*toolv1.ToolEvent)) transcript {
	t := transcript{operation: op, label: label, call: call}
	began := time.Now()
	defer func() { t.took = time.Since(began) }()
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, s.path("Invoke"))
	if err == nil {
		err = stream.SendMsg(&toolv1.InvokeRequest{Call: call})
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = stream.CloseSend()
	}
	for err == nil {
		r := &toolv1.InvokeResponse{}
		if err = stream.RecvMsg(r); err == nil {
			t.events = append(t.events, r.GetEvent())
			if see != nil {
				see(r.GetEvent())
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		t.err = err
	}
	return t
}

// String names the call.
func (t transcript) String() string { return t.operation.String() + " (" + t.label + ")" }

// terminals are the results and errors of a call.
func (t transcript) terminals() (out []*toolv1.ToolEvent) {
	for _, e := range t.events {
		if e.GetResult() != nil || e.GetError() != nil {
			out = append(out, e)
		}
	}
	return out
}

// printed is the output of a call, by stream.
func (t transcript) printed() map[toolv1.OutputStream][]byte {
	out := map[toolv1.OutputStream][]byte{}
	for _, e := range t.events {
		if chunk := e.GetOutputChunk(); chunk != nil {
			out[chunk.GetStream()] = append(out[chunk.GetStream()], chunk.GetData()...)
		}
	}
	return out
}

// ending is what a call came to, for people.
func (t transcript) ending() string {
	if t.died != "" {
		return t.died
	}
	if len(t.terminals()) == 0 && t.err != nil {
		return t.kind() + " (" + message(t.err) + ")"
	}
	return t.kind()
}

// kind is what a call came to: "result", the name of an error's category, or how it failed to end with either.
func (t transcript) kind() string {
	terminals := t.terminals()
	switch {
	case len(terminals) == 0 && t.err != nil:
		return "status " + status.Code(t.err).String()
	case len(terminals) == 0:
		return "nothing"
	case terminals[0].GetError() != nil:
		return errorName(terminals[0].GetError())
	default:
		return "result"
	}
}

// failure is the error that a call ended with; nil when it ended otherwise.
func (t transcript) failure() *toolv1.ToolError {
	for _, e := range t.events {
		if e.GetError() != nil {
			return e.GetError()
		}
	}
	return nil
}

// result is the result that a call ended with; nil when it ended otherwise.
func (t transcript) result() *toolv1.ToolResult {
	for _, e := range t.events {
		if e.GetResult() != nil {
			return e.GetResult()
		}
	}
	return nil
}

func errorName(e *toolv1.ToolError) string {
	return strings.ToLower(strings.TrimPrefix(e.GetCategory().String(), "TOOL_ERROR_CATEGORY_"))
}

// message is the text of a status.
func message(err error) string { return status.Convert(err).Message() }

// late reports an RPC that did not answer in time.
func late(err error) bool { return status.Code(err) == codes.DeadlineExceeded }

// absent reports an RPC that the provider does not have.
func absent(err error) bool { return status.Code(err) == codes.Unimplemented }
