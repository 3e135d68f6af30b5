package sdk_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

// foreign is a tool as another system might describe it.
const foreign = `{
	"name": "search", "description": "Searches.", "kind": "TOOL_KIND_DATA_SOURCE", "risk": "RISK_CLASS_READ_ONLY",
	"concurrency": {"safe": true, "keyFields": ["query"]}, "defaultTimeout": "3s", "terminatesTurn": true,
	"inputSchema": {"type": "SCHEMA_TYPE_OBJECT", "required": ["query"], "properties": {
		"query": {"type": "SCHEMA_TYPE_STRING"},
		"order": {"type": "SCHEMA_TYPE_STRING", "enumValues": ["new", "old"]},
		"limits": {"type": "SCHEMA_TYPE_ARRAY", "items": {"type": "SCHEMA_TYPE_NUMBER"}},
		"extra": {"type": "SCHEMA_TYPE_OBJECT"}
	}},
	"outputSchema": {"type": "SCHEMA_TYPE_OBJECT", "required": ["hits"], "properties": {"hits": {"type": "SCHEMA_TYPE_NUMBER"}}}
}`

func toolSchema(t require.TestingT, text string) *toolv1.ToolSchema {
	s := &toolv1.ToolSchema{}
	require.NoError(t, protojson.Unmarshal([]byte(text), s))
	return s
}

func raw(t *testing.T, handle sdk.RawHandler[struct{}]) *sdk.Provider[struct{}] {
	t.Helper()
	p := sdk.New[struct{}]("proxy", "For tests.")
	_, err := sdk.RawTool(p, toolSchema(t, foreign), handle)
	require.NoError(t, err)
	return p
}

func TestRawToolIsOfferedAsItWasDescribed(t *testing.T) {
	h := sdktest.Start(t, raw(t, echo), nil)
	require.True(t, proto.Equal(toolSchema(t, foreign), h.Tools(t.Context())[0]))
}

func TestRawToolIsCheckedLikeATypedOne(t *testing.T) {
	h := sdktest.Start(t, raw(t, func(_ context.Context, _ *sdk.Call[struct{}], in *structpb.Struct) (*structpb.Struct, error) {
		out := map[string]map[string]any{
			"well":   {"hits": 1.0},
			"nobody": {},
			"wrong":  {"hits": "many"},
			"more":   {"hits": 1.0, "misses": 2.0},
		}[in.GetFields()["query"].GetStringValue()]
		s, err := structpb.NewStruct(out)
		if out == nil {
			s = nil
		}
		return s, err
	}), nil)
	for _, test := range []struct {
		name      string
		arguments map[string]any
		category  string
		want      string
	}{
		{"everything", map[string]any{"query": "well", "order": "new", "limits": []any{1, 2}, "extra": map[string]any{"any": "thing"}}, "", ""},
		{"null is absence", map[string]any{"query": "well", "order": nil}, "", ""},
		{"missing", nil, "INVALID_ARGUMENTS", "argument query is required"},
		{"unknown", map[string]any{"query": "well", "ordr": "new"}, "INVALID_ARGUMENTS", "argument ordr is not known; did you mean order?"},
		{"not in the enum", map[string]any{"query": "well", "order": "up"}, "INVALID_ARGUMENTS", `argument order must be one of new, old, not "up"`},
		{"inside a list", map[string]any{"query": "well", "limits": []any{1, "2"}}, "INVALID_ARGUMENTS", "argument limits[1] must be a number, not a string"},
		{"a result without a member", map[string]any{"query": "nobody"}, "UNKNOWN", "search: the result does not fit its schema: hits is required"},
		{"no result at all", map[string]any{"query": "nil"}, "UNKNOWN", "hits is required"},
		{"a result of another type", map[string]any{"query": "wrong"}, "UNKNOWN", "hits must be a number, not a string"},
		{"a result with a member too many", map[string]any{"query": "more"}, "UNKNOWN", "misses is not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := h.Call(t.Context(), "search", test.arguments)
			if test.category == "" {
				require.Nil(t, r.Err)
				require.Equal(t, map[string]any{"hits": 1.0}, r.Result)
				return
			}
			require.Equal(t, "TOOL_ERROR_CATEGORY_"+test.category, r.Err.GetCategory().String())
			require.Contains(t, r.Err.GetMessage(), test.want)
		})
	}
}

func TestRawCommandTakesAndGivesWhatItLikes(t *testing.T) {
	p := sdk.New[struct{}]("proxy", "For tests.")
	op, err := sdk.RawCommand(p, &slashcommandv1.SlashCommandSpec{
		Name: "echo", Description: "Echoes.", Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE, Risk: toolv1.RiskClass_RISK_CLASS_LOW,
	}, func(_ context.Context, _ *sdk.Call[struct{}], in *structpb.Struct) (*structpb.Struct, error) {
		in.Fields["bad"] = structpb.NewStringValue("a\xffb")
		return in, nil
	})
	require.NoError(t, err)
	op.Preview(func(_ *sdk.Call[struct{}], in *structpb.Struct) (sdk.Plan, error) {
		return sdk.Says("echo %v", in.AsMap()), nil
	})
	h := sdktest.Start(t, p, nil)
	r := h.Call(t.Context(), "echo", map[string]any{"a": []any{1, nil}})
	require.Equal(t, map[string]any{"a": []any{1.0, nil}, "bad": "a\uFFFDb"}, r.Result)
	tree, err := h.Preview(t.Context(), "echo", map[string]any{"a": 1})
	require.NoError(t, err)
	require.Equal(t, "echo map[a:1]", tree.GetRoot().GetText().GetContent())
}

func TestRawToolRefusesWhatNoKernelCouldUse(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*toolv1.ToolSchema)
		want  string
	}{
		{"no name", func(s *toolv1.ToolSchema) { s.Name = "" }, `operation name ""`},
		{"a name that not every client takes", func(s *toolv1.ToolSchema) { s.Name = "web.search" }, `operation name "web.search": use 1 to 64 of`},
		{"no description", func(s *toolv1.ToolSchema) { s.Description = "" }, "has no description"},
		{"no kind", func(s *toolv1.ToolSchema) { s.Kind = 0 }, "no kind"},
		{"no risk", func(s *toolv1.ToolSchema) { s.Risk = 0 }, "no risk"},
		{"a reader with a risk", func(s *toolv1.ToolSchema) { s.Risk = toolv1.RiskClass_RISK_CLASS_LOW }, "the risk read_only belongs to"},
		{"a writer without", func(s *toolv1.ToolSchema) { s.Kind = toolv1.ToolKind_TOOL_KIND_RESOURCE }, "the risk read_only belongs to"},
		{"a key that is no argument", func(s *toolv1.ToolSchema) { s.Concurrency.KeyFields = []string{"path"} }, `no argument "path" to be a concurrency key`},
		{"no time", func(s *toolv1.ToolSchema) { s.DefaultTimeout.Seconds = -int64(time.Second) }, "leaves no time"},
		{"arguments that are a string", func(s *toolv1.ToolSchema) { s.InputSchema.Type = 2 }, "arguments: it is of type SCHEMA_TYPE_STRING"},
		{"required and not there", func(s *toolv1.ToolSchema) { s.OutputSchema.Required = []string{"x"} }, `result: "x" is required and not among its properties`},
		{"a type of the future", func(s *toolv1.ToolSchema) { s.InputSchema.Properties["query"].Type = 77 }, `"query" has no type that the protocol knows (77)`},
		{"numbers to choose from", func(s *toolv1.ToolSchema) {
			s.InputSchema.Properties["query"].Type = 3
			s.InputSchema.Properties["query"].EnumValues = []string{"1"}
		}, "is no string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := toolSchema(t, foreign)
			test.spoil(s)
			p := sdk.New[struct{}]("proxy", "For tests.")
			op, err := sdk.RawTool(p, s, echo)
			require.ErrorContains(t, err, test.want)
			require.Nil(t, op)
			_, err = sdk.RawTool(p, toolSchema(t, foreign), echo)
			require.NoError(t, err, "the provider is as it was")
			_, err = sdk.RawTool(p, toolSchema(t, foreign), echo)
			require.ErrorContains(t, err, `"search" is registered twice`)
		})
	}
}

func TestARawResultThatNobodyCouldReceiveIsAnError(t *testing.T) {
	p := sdk.New[struct{}]("proxy", "For tests.")
	_, err := sdk.RawTool(p, rawSchema(), func(context.Context, *sdk.Call[struct{}], *structpb.Struct) (*structpb.Struct, error) {
		deep := structpb.NewNullValue()
		for range 2000 {
			deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
				structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"d": deep}}),
			}})
		}
		return deep.GetListValue().GetValues()[0].GetStructValue(), nil
	})
	require.NoError(t, err)
	r := sdktest.Start(t, p, nil).Call(t.Context(), "raw", nil)
	require.NoError(t, r.Status)
	require.Contains(t, r.Err.GetMessage(), "nested more than 1000 levels deep")
}

// TestARawSchemaThatCannotTravelIsRefused: one of them would keep a kernel from all operations of the provider.
func TestARawSchemaThatCannotTravelIsRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*toolv1.ToolSchema)
		want   string
	}{
		{"a text that is not UTF-8", func(s *toolv1.ToolSchema) { s.Description = "a\xff" }, "invalid UTF-8"},
		{"a size that fits in no message", func(s *toolv1.ToolSchema) { s.Description = strings.Repeat("long", 1<<20) }, "one message carries"},
		{"a timeout that is none", func(s *toolv1.ToolSchema) { s.DefaultTimeout = &durationpb.Duration{Seconds: 1, Nanos: -1} }, "default timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := rawSchema()
			test.change(s)
			p := sdk.New[struct{}]("proxy", "For tests.")
			_, err := sdk.RawTool(p, s, func(_ context.Context, _ *sdk.Call[struct{}], in *structpb.Struct) (*structpb.Struct, error) {
				return in, nil
			})
			require.ErrorContains(t, err, test.want)
			sdk.Tool(p, "greet", "Greet somebody.", greet)
			require.Len(t, sdktest.Start(t, p, nil).Tools(t.Context()), 1)
		})
	}
}

func TestARawToolNeedsAFunction(t *testing.T) {
	_, err := sdk.RawTool(sdk.New[struct{}]("proxy", "For tests."), rawSchema(), nil)
	require.ErrorContains(t, err, "raw has no function")
}

func echo(_ context.Context, _ *sdk.Call[struct{}], in *structpb.Struct) (*structpb.Struct, error) {
	return in, nil
}

func rawSchema() *toolv1.ToolSchema {
	return &toolv1.ToolSchema{
		Name: "raw", Description: "Takes anything.", Kind: toolv1.ToolKind_TOOL_KIND_DATA_SOURCE,
		Risk: toolv1.RiskClass_RISK_CLASS_READ_ONLY, Concurrency: &toolv1.ConcurrencySpec{Safe: true},
	}
}
