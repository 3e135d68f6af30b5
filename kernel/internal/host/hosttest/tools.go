package hosttest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
)

// call is one call of a tool, with the means to answer it.
type call struct {
	*fixture
	*toolv1.ToolCall
	ctx  context.Context
	send func(*toolv1.ToolEvent) error
}

func (c call) text(name string) string { return c.GetArguments().GetFields()[name].GetStringValue() }

func (c call) number(name string) int {
	return int(c.GetArguments().GetFields()[name].GetNumberValue())
}

func (c call) result(payload map[string]any) error {
	s, err := structpb.NewStruct(payload)
	if err != nil {
		return err
	}
	return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: s}}})
}

func (c call) progress(message string) error {
	return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: &toolv1.ToolEvent_Progress{Message: message}}})
}

func (c call) chunk(stream toolv1.OutputStream, data string) error {
	return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{Stream: stream, Data: []byte(data)}}})
}

func (c call) exit(code int32) error {
	return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_ExitStatus_{ExitStatus: &toolv1.ToolEvent_ExitStatus{ExitCode: code}}})
}

func (c call) fail(category toolv1.ToolErrorCategory, message string) error {
	return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: &toolv1.ToolError{Category: category, Message: message}}})
}

type tool struct {
	schema *toolv1.ToolSchema
	run    func(call) error
}

const (
	reads  = toolv1.ToolKind_TOOL_KIND_DATA_SOURCE
	writes = toolv1.ToolKind_TOOL_KIND_RESOURCE
)

func object(required []string, properties map[string]*schemav1.Schema) *schemav1.Schema {
	return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Required: required, Properties: properties}
}

func typed(t schemav1.SchemaType) *schemav1.Schema { return &schemav1.Schema{Type: t} }

var (
	stringType = typed(schemav1.SchemaType_SCHEMA_TYPE_STRING)
	numberType = typed(schemav1.SchemaType_SCHEMA_TYPE_NUMBER)
	nothing    = object(nil, nil)
)

func texts(names ...string) *schemav1.Schema {
	properties := map[string]*schemav1.Schema{}
	for _, name := range names {
		properties[name] = stringType
	}
	return object(names, properties)
}

func newTool(name string, kind toolv1.ToolKind, in, out *schemav1.Schema, run func(call) error) tool {
	risk := toolv1.RiskClass_RISK_CLASS_READ_ONLY
	if kind == writes {
		risk = toolv1.RiskClass_RISK_CLASS_MODERATE
	}
	return tool{run: run, schema: &toolv1.ToolSchema{
		Name: name, Kind: kind, Risk: risk, Description: "Fixture " + name + ".", InputSchema: in, OutputSchema: out,
		Streaming: true, Concurrency: &toolv1.ConcurrencySpec{Safe: kind == reads},
	}}
}

var all = []tool{
	newTool("echo", reads, texts("text"), texts("text"), func(c call) error {
		if err := c.result(map[string]any{"text": c.text("text")}); err != nil {
			return err
		}
		return sendAlong(c)
	}),
	newTool("sequence", reads, nothing, object([]string{"exit_code", "summary"}, map[string]*schemav1.Schema{"exit_code": numberType, "summary": stringType}), sequence),
	newTool("write", writes, texts("path", "content"), nothing, func(c call) error {
		if err := os.WriteFile(c.text("path"), []byte(c.text("content")), 0o600); err != nil {
			return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, err.Error())
		}
		return c.result(nil)
	}),
	newTool("pid", reads, nothing, object(nil, map[string]*schemav1.Schema{"pid": numberType}), func(c call) error {
		return c.result(map[string]any{"pid": os.Getpid()})
	}),
	newTool("block", reads, nothing, nothing, block),
	newTool("deaf", reads, nothing, nothing, func(c call) error {
		_ = c.progress("deaf")
		select {}
	}),
	newTool("die", reads, texts("how"), nothing, die),
	newTool("print", reads, object(nil, map[string]*schemav1.Schema{"bytes": numberType}), nothing, func(c call) error {
		line := strings.Repeat("x", c.number("bytes"))
		fmt.Fprint(os.Stderr, line)
		fmt.Fprint(os.Stdout, line)
		return c.result(nil)
	}),
	newTool("misbehave", reads, texts("how"), nothing, misbehave),
	newTool("late", reads, nothing, texts("text"), late),
	newTool("starved", reads, nothing, nothing, starved),
	newTool("big", reads, object(nil, map[string]*schemav1.Schema{"bytes": numberType, "ballast": stringType}), texts("text"), func(c call) error {
		return c.result(map[string]any{"text": strings.Repeat("x", c.number("bytes"))})
	}),
	newTool("refuse", reads, nothing, nothing, func(call) error {
		s, _ := status.New(codes.NotFound, "none").WithDetails(&toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, Message: "there is no moon"})
		return s.Err()
	}),
	newTool("environment", reads, nothing, object(nil, map[string]*schemav1.Schema{
		"names": {Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: stringType}, "stdin": stringType}), environment),
	newTool("spawn", reads, nothing, object(nil, map[string]*schemav1.Schema{"pid": numberType}), func(c call) error {
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			return err
		}
		return c.result(map[string]any{"pid": child.Process.Pid})
	}),
	newTool("liar", reads, nothing, texts("text"), func(c call) error { return c.result(map[string]any{"text": 7}) }),
	quick(newTool("slow", reads, nothing, nothing, block)),
	newTool("flaky_read", reads, flakyInput, nothing, flaky),
	newTool("flaky_write", writes, flakyInput, nothing, flaky),
	idempotent(newTool("flaky_set", writes, flakyInput, nothing, flaky)),
	newTool("emit", reads, texts("kind", "text"), object(nil, map[string]*schemav1.Schema{"id": stringType, "sequence": numberType}), emit),
	newTool("leak", reads, texts("how"), nothing, leak),
}

func quick(t tool) tool {
	t.schema.DefaultTimeout = durationpb.New(300 * time.Millisecond)
	return t
}

func sequence(c call) error {
	return errors.Join(
		c.progress("starting process"),
		c.chunk(toolv1.OutputStream_OUTPUT_STREAM_STDOUT, "ok\n"),
		c.chunk(toolv1.OutputStream_OUTPUT_STREAM_STDERR, "FAIL\n"),
		c.exit(1),
		c.result(map[string]any{"exit_code": 1, "summary": "1 package failed"}))
}

// block works until it is cancelled, and then says what it had done.
func block(c call) error {
	if err := c.progress("blocking"); err != nil {
		return err
	}
	<-c.ctx.Done()
	c.report(c.GetId(), "half of it was done", map[string]any{"note": "half of it was done", "done": 1}, "last words\n")
	return c.ctx.Err()
}

func die(c call) error {
	_ = c.progress("dying")
	switch c.text("how") {
	case "panic":
		go panic("the moon fell")
		select {}
	case "kill":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	case "exit 0":
		os.Exit(0)
	case "hang up":
		hangUp()
		select {}
	}
	fmt.Fprintln(stderr, "no more fuel")
	os.Exit(3)
	return nil
}

// noNumber can be said in protobuf and not in JSON.
var noNumber = &structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(math.NaN())}}

func misbehave(c call) error {
	switch c.text("how") {
	case "two results":
		return errors.Join(c.result(nil), c.result(nil))
	case "output after the result":
		return errors.Join(c.result(nil), c.chunk(toolv1.OutputStream_OUTPUT_STREAM_STDOUT, "late"))
	case "two exits":
		return errors.Join(c.exit(1), c.exit(1), c.result(nil))
	case "no end":
		return c.progress("that is all")
	case "empty event":
		return errors.Join(c.send(&toolv1.ToolEvent{}), c.result(nil))
	case "no category":
		return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNSPECIFIED, "hm")
	case "claims a cancellation":
		return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, "had enough")
	case "claims a cancellation and ends":
		defer time.AfterFunc(20*time.Millisecond, func() { os.Exit(1) })
		return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, "told to end")
	case "claims a cancellation and ends later": // after what the connection of a process is outlived by
		defer time.AfterFunc(3*time.Second, func() { os.Exit(1) })
		return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, "told to end")
	case "claims a cancellation by its status":
		return status.Error(codes.Canceled, "had enough")
	case "claims a crash":
		return c.fail(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED, "boo")
	case "plain status":
		return status.Error(codes.Internal, "wires crossed")
	case "unavailable":
		return status.Error(codes.Unavailable, "the moon is out of reach")
	case "no number":
		return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: noNumber}}})
	case "no number in a part":
		return errors.Join(c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{Payload: noNumber}}}), c.result(nil))
	case "no number in an error":
		return c.send(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: &toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, Message: "sums do not add up", Details: noNumber}}})
	case "status that claims a crash":
		s, _ := status.New(codes.Internal, "wires crossed").WithDetails(&toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED})
		return s.Err()
	case "never closes":
		return errors.Join(c.result(nil), func() error { <-c.ctx.Done(); return nil }())
	}
	return fmt.Errorf("no such fault: %q", c.text("how"))
}

func environment(c call) error {
	var names []any
	for _, entry := range slices.Sorted(slices.Values(os.Environ())) {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	stdin, _ := os.Readlink("/proc/self/fd/0")
	return c.result(map[string]any{"names": names, "stdin": stdin})
}

type tools struct {
	toolv1.UnimplementedToolServiceServer
	*fixture
}

func (t tools) GetSchema(context.Context, *toolv1.GetSchemaRequest) (*toolv1.GetSchemaResponse, error) {
	if t.mode == Thinking {
		select {}
	}
	r := &toolv1.GetSchemaResponse{ConfigSchema: t.schema()}
	for _, tool := range all {
		schema := tool.schema
		if t.mode == Harmless {
			schema = proto.CloneOf(schema)
			schema.Kind, schema.Risk = reads, toolv1.RiskClass_RISK_CLASS_READ_ONLY
		}
		r.Tools = append(r.Tools, schema)
	}
	if t.mode == Lying {
		r.Tools = append(r.Tools,
			&toolv1.ToolSchema{Name: "harmless", Kind: reads, Risk: toolv1.RiskClass_RISK_CLASS_CRITICAL},
			&toolv1.ToolSchema{Name: "bad\x1bname", Kind: writes, Risk: toolv1.RiskClass_RISK_CLASS_LOW},
			&toolv1.ToolSchema{Name: "echo", Kind: reads, Risk: toolv1.RiskClass_RISK_CLASS_READ_ONLY},
			&toolv1.ToolSchema{Name: "unkind"},
			&toolv1.ToolSchema{Name: "haunted", Kind: reads, Risk: toolv1.RiskClass_RISK_CLASS_READ_ONLY, InputSchema: object([]string{"ghost"}, nil)},
			&toolv1.ToolSchema{Name: "flat", Kind: reads, Risk: toolv1.RiskClass_RISK_CLASS_READ_ONLY, OutputSchema: stringType})
	}
	return r, nil
}

func (t tools) Configure(_ context.Context, r *toolv1.ConfigureRequest) (*toolv1.ConfigureResponse, error) {
	return &toolv1.ConfigureResponse{}, t.configure(r.GetConfig())
}

func (t tools) Invoke(r *toolv1.InvokeRequest, stream grpc.ServerStreamingServer[toolv1.InvokeResponse]) error {
	for _, tool := range all {
		if tool.schema.GetName() == r.GetCall().GetToolName() {
			return tool.run(call{fixture: t.fixture, ToolCall: r.GetCall(), ctx: stream.Context(), send: func(e *toolv1.ToolEvent) error {
				return stream.Send(&toolv1.InvokeResponse{Event: e})
			}})
		}
	}
	return status.Errorf(codes.Unimplemented, "no tool %q", r.GetCall().GetToolName())
}

func (t tools) Preview(_ context.Context, r *toolv1.PreviewRequest) (*toolv1.PreviewResponse, error) {
	if r.GetCall().GetToolName() != "write" {
		return nil, status.Error(codes.Unimplemented, "no preview")
	}
	path := r.GetCall().GetArguments().GetFields()["path"].GetStringValue()
	if name, refused := strings.CutPrefix(path, "refused:"); refused {
		category := toolv1.ToolErrorCategory(toolv1.ToolErrorCategory_value["TOOL_ERROR_CATEGORY_"+name])
		s, err := status.New(codes.FailedPrecondition, "it cannot be").WithDetails(&toolv1.ToolError{Category: category, Message: "it cannot be"})
		if err != nil {
			return nil, err
		}
		return nil, s.Err()
	}
	return &toolv1.PreviewResponse{Preview: textTree("would write %s", path)}, nil
}

func (t tools) Render(ctx context.Context, r *toolv1.RenderRequest) (*toolv1.RenderResponse, error) {
	if tree, asked := takeKept(ctx); asked {
		if tree == nil {
			return nil, status.Error(codes.NotFound, "it is not kept")
		}
		return &toolv1.RenderResponse{Tree: tree}, nil
	}
	if strings.Contains(string(r.GetPayload()), "plain") {
		return &toolv1.RenderResponse{}, nil
	}
	return &toolv1.RenderResponse{Tree: textTree("rendered %s", r.GetPayload())}, nil
}

func (t tools) Describe(ctx context.Context, _ *toolv1.DescribeRequest) (*toolv1.DescribeResponse, error) {
	t.answer(ctx)
	return &toolv1.DescribeResponse{Producer: producer(commonv1.Category_CATEGORY_TOOL)}, nil
}
