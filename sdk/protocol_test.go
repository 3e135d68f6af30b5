package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

// limit is gRPC's default for one message.
const limit = 4 << 20

func nothing(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil }

func invoked(t *testing.T, tools toolv1.ToolServiceClient) *toolv1.ToolEvent {
	t.Helper()
	stream, err := tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{Id: "1", ToolName: "do", Arguments: object(t, map[string]any{"what": "it"})}})
	require.NoError(t, err)
	r, err := stream.Recv()
	require.NoError(t, err)
	return r.GetEvent()
}

func TestBeforeConfigureAProviderDescribesItselfAndDoesNothing(t *testing.T) {
	tools, commands := served(t, with(nothing), nil)
	schema, err := tools.GetSchema(t.Context(), &toolv1.GetSchemaRequest{})
	require.NoError(t, err)
	require.Len(t, schema.GetTools(), 1)
	require.Equal(t, "token", schema.GetConfigSchema().GetAttributes()[1].GetName())
	require.True(t, schema.GetConfigSchema().GetAttributes()[1].GetSensitive())

	described, err := tools.Describe(t.Context(), &toolv1.DescribeRequest{})
	require.NoError(t, err)
	require.True(t, proto.Equal(&commonv1.ProducerRef{
		Name: "probe", Version: "1.2.3", Source: "github.com/agentco/provider-probe", Category: commonv1.Category_CATEGORY_TOOL, ProtocolVersion: 1,
	}, described.GetProducer()))

	_, err = commands.GetCapabilities(t.Context(), &slashcommandv1.GetCapabilitiesRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err), "it serves no slash commands")

	require.Contains(t, invoked(t, tools).GetError().GetMessage(), "must call Configure first")
	_, err = tools.Preview(t.Context(), &toolv1.PreviewRequest{Call: &toolv1.ToolCall{ToolName: "do"}})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}

func TestConfigureHappensOnce(t *testing.T) {
	tools, _ := served(t, with(nothing), nil)
	configure := func(root string) error {
		_, err := tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, map[string]any{"root": root})})
		return err
	}
	require.Error(t, configure("nowhere"))
	require.NoError(t, configure("/"), "a refused configuration is none")
	require.NoError(t, configure("/"), "each service of a process may be configured, with the same")
	require.Equal(t, codes.FailedPrecondition, status.Code(configure("/tmp")))
}

func TestStatusOfARefusalHasTheCodeOfItsCategory(t *testing.T) {
	for category, code := range map[sdk.Category]codes.Code{
		sdk.CategoryInvalidArguments: codes.InvalidArgument, sdk.CategoryNotFound: codes.NotFound, sdk.CategoryPermissionDenied: codes.PermissionDenied,
		sdk.CategoryExecutionFailed: codes.FailedPrecondition, sdk.CategoryTimeout: codes.DeadlineExceeded, sdk.CategoryConflict: codes.Aborted,
		sdk.CategoryCancelled: codes.Canceled, sdk.CategoryUnknown: codes.Unknown,
	} {
		t.Run(category.String(), func(t *testing.T) {
			p := with(nothing).Setup(func(context.Context, *config, sdk.Env) error {
				return &sdk.Error{Category: category, Message: "no", Retryable: true, Details: map[string]any{"n": 1}}
			})
			err := sdktest.Configure(t, p, map[string]any{"root": "/"})
			require.Equal(t, code, status.Code(err))
			detail := sdktest.ToolError(err)
			require.EqualValues(t, category, detail.GetCategory())
			require.True(t, detail.GetRetryable())
			require.EqualValues(t, 1, detail.GetDetails().AsMap()["n"])
		})
	}
}

func TestCategoriesThatAProviderMustNotSend(t *testing.T) {
	for _, category := range []sdk.Category{0, 8, 77, -1} {
		h := start(t, func(context.Context, *call, doIn) (doOut, error) {
			return doOut{}, &sdk.Error{Category: category, Message: "no", Err: errors.New("the cause")}
		})
		r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, r.Err.GetCategory())
		require.Contains(t, r.Err.GetDetails().AsMap()["cause"], "the cause")
	}
}

func TestOnlyACancelledCallIsCancelled(t *testing.T) {
	h := start(t, func(ctx context.Context, _ *call, _ doIn) (doOut, error) {
		own, cancel := context.WithCancel(ctx)
		cancel()
		return doOut{}, fmt.Errorf("ask the mirror: %w", own.Err())
	})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, r.Err.GetCategory())
	require.Equal(t, "ask the mirror: context canceled, although the call was not cancelled", r.Err.GetMessage())
}

func TestDeadlines(t *testing.T) {
	var began atomic.Bool
	h := start(t, func(ctx context.Context, _ *call, in doIn) (doOut, error) {
		if in.N == 1 {
			own, cancel := context.WithTimeout(ctx, time.Nanosecond)
			defer cancel()
			ctx = own
		}
		began.Store(true)
		<-ctx.Done()
		return doOut{}, fmt.Errorf("fetch: %w", ctx.Err())
	})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it", "n": 1})
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, r.Err.GetCategory(), "its own deadline")

	began.Store(false)
	for within := 100 * time.Millisecond; !began.Load(); within *= 2 { // a slow machine is given longer to begin
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		r = h.Call(ctx, "do", map[string]any{"what": "it"})
	}
	require.Equal(t, codes.Canceled, status.Code(r.Status), "the kernel's, which it keeps by cancelling")
	require.Nil(t, r.Err)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, r.Report.GetCategory())
}

func TestTextIsUTF8WhateverTheProviderSays(t *testing.T) {
	const bad, want = "a\xffb", "a\uFFFDb"
	p := with(func(_ context.Context, c *call, in doIn) (doOut, error) {
		c.Status(bad)
		c.Exit(1, bad)
		c.Log().Info(bad, bad, bad)
		err := errors.Join(
			c.Partial(map[string]any{bad: bad}),
			c.Partial(&structpb.Struct{Fields: map[string]*structpb.Value{bad: structpb.NewStringValue(bad)}}),
			c.Partial(struct {
				A string `json:"a"`
			}{bad}),
		)
		if in.N == 1 {
			return doOut{}, sdk.Failed(bad).With(bad, []any{bad})
		}
		return doOut{bad}, err
	})
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
	require.NoError(t, r.Status)
	require.Equal(t, want, r.Result["did"])
	require.Equal(t, []string{"Progress", "ExitStatus", "PartialResult", "PartialResult", "PartialResult", "Result"}, kinds(r.Events))
	require.Equal(t, want, r.Events[0].GetProgress().GetMessage())
	require.Equal(t, want, r.Events[1].GetExitStatus().GetSignal())
	for _, e := range r.Events[2:4] {
		require.Equal(t, map[string]any{want: want}, e.GetPartialResult().GetPayload().AsMap())
	}
	require.Equal(t, want, h.Logs()[0].GetMessage())
	r = h.Call(t.Context(), "do", map[string]any{"what": "it", "n": 1})
	require.Equal(t, want, r.Err.GetMessage())
	require.Equal(t, map[string]any{want: []any{want}}, r.Err.GetDetails().AsMap())
}

func TestNothingIsLargerThanOneMessage(t *testing.T) {
	huge := strings.Repeat("x", 5<<20)
	p := sdk.New[config]("probe", "For tests.")
	sdk.Tool(p, "do", "Does it.", func(_ context.Context, c *call, in doIn) (doOut, error) {
		switch in.What {
		case "status":
			c.Status("%s", huge)
		case "partial":
			return doOut{}, c.Partial(map[string]any{"a": huge})
		case "message":
			return doOut{}, errors.New(huge)
		case "details":
			return doOut{}, sdk.Failed("no").With("why", huge).With("list", []string{huge})
		case "log":
			for range 100 {
				c.Log().Info(huge[:60<<10], "why", huge)
			}
		}
		return doOut{}, nil
	}).Streaming().Preview(func(_ *call, in doIn) (sdk.Plan, error) {
		if in.What == "error" {
			return sdk.Plan{}, sdk.Failed("%s", huge).With("why", huge)
		}
		return sdk.Says("%s", huge), nil
	}).Show(func(doOut) render.Node { return render.Text(huge) })
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	for _, test := range []struct{ what, want string }{
		{"status", ""}, {"partial", "one message carries at most"}, {"message", "xxx"}, {"details", "no"}, {"log", ""},
	} {
		r := h.Call(t.Context(), "do", map[string]any{"what": test.what})
		require.NoError(t, r.Status, test.what)
		require.Contains(t, r.Err.GetMessage(), test.want)
		for _, e := range r.Events {
			require.Less(t, proto.Size(e), limit)
		}
	}
	require.Len(t, h.Logs(), 100)

	for what, category := range map[string]toolv1.ToolErrorCategory{
		"plan":  toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, // the call itself may succeed
		"error": toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED,
	} {
		_, err := h.Preview(t.Context(), "do", map[string]any{"what": what})
		require.Equal(t, category, sdktest.ToolError(err).GetCategory())
		require.Less(t, proto.Size(status.Convert(err).Proto()), 8<<10, "it travels in headers")
	}
	_, err := h.Render(t.Context(), map[string]any{"did": "it"})
	require.Contains(t, sdktest.ToolError(err).GetMessage(), "one message carries at most")
}

func TestRenderTakesOnlyItsOwnVersion(t *testing.T) {
	tools, _ := served(t, with(nothing), nil)
	_, err := tools.Render(t.Context(), &toolv1.RenderRequest{Payload: []byte("{}"), SchemaVersion: "2"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = tools.Render(t.Context(), &toolv1.RenderRequest{Payload: []byte("[1"), SchemaVersion: "1"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = tools.Preview(t.Context(), &toolv1.PreviewRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

// FuzzInvoke holds that whatever arguments come, a call ends with one result or one error of one category.
func FuzzInvoke(f *testing.F) {
	f.Add("what", "it", 1.0, true)
	f.Add("n", "x", 0.5, false)
	f.Fuzz(func(t *testing.T, name, text string, number float64, asText bool) {
		value := structpb.NewNumberValue(number)
		if asText {
			value = structpb.NewStringValue(text)
		}
		arguments := &structpb.Struct{Fields: map[string]*structpb.Value{"what": structpb.NewStringValue("it"), name: value}}
		if _, err := proto.Marshal(arguments); err != nil {
			return
		}
		tools := attached(t, with(func(_ context.Context, _ *call, in doIn) (doOut, error) { return doOut{in.What}, nil }), nil)
		stream, err := tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{Id: "1", ToolName: "do", Arguments: arguments}})
		require.NoError(t, err)
		r, err := stream.Recv()
		require.NoError(t, err)
		if e := r.GetEvent().GetError(); e != nil {
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, e.GetCategory())
			require.NotEmpty(t, e.GetDetails().AsMap()["argument"])
		} else {
			require.NotNil(t, r.GetEvent().GetResult())
		}
		_, err = stream.Recv()
		require.Error(t, err)
	})
}

func TestAnErrorCanBeAVariable(t *testing.T) {
	shared := sdk.NotFound("nothing there").With("a", 1)
	marked := shared.With("b", 2).Retry()
	require.Equal(t, map[string]any{"a": 1}, shared.Details)
	require.False(t, shared.Retryable)
	require.Equal(t, map[string]any{"a": 1, "b": 2}, marked.Details)
	require.True(t, marked.Retryable)
	require.EqualError(t, marked, "nothing there")
}
