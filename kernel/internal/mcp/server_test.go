package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// The versions of the protocol that tests run under: one that asks within a call, and the one that asks between two.
var versions = []string{"2025-06-18", multiRound}

func forEachVersion(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}

func TestToolsAreListed(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		s := k.connect(t, nil, version)
		list, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, list.Tools)
		byName := map[string]*sdk.Tool{}
		for _, tool := range list.Tools {
			byName[tool.Name] = tool
			requireStrictSchema(t, tool.InputSchema) // M03, M04
			if tool.OutputSchema != nil {
				requireStrictSchema(t, tool.OutputSchema)
			}
		}
		echo, write := byName["fixture_echo"], byName["fixture_write"]
		require.Equal(t, "fixture.echo", echo.Title)
		require.Equal(t, "Fixture echo.", echo.Description)
		require.True(t, echo.Annotations.ReadOnlyHint)
		require.False(t, *echo.Annotations.DestructiveHint)
		require.False(t, write.Annotations.ReadOnlyHint)
		require.True(t, *write.Annotations.DestructiveHint)
		require.NotContains(t, byName, "fixture_hello", "a command is a prompt")
	})
}

// requireStrictSchema holds a schema to what the strictest clients want: it is one of JSON Schema 2020-12, objects have
// properties, lists have items, and nothing is null.
func requireStrictSchema(t *testing.T, schema any) {
	t.Helper()
	text, err := json.Marshal(schema)
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("tool.json", parsed))
	_, err = c.Compile("tool.json")
	require.NoError(t, err, "%s", text)
	require.Equal(t, "object", parsed.(map[string]any)["type"])
	requireStrict(t, parsed, string(text))
}

func requireStrict(t *testing.T, v any, all string) {
	t.Helper()
	switch v := v.(type) {
	case nil:
		require.Fail(t, "null in a schema", all)
	case []any:
		for _, element := range v {
			requireStrict(t, element, all)
		}
	case map[string]any:
		if v["type"] == "object" {
			require.IsType(t, map[string]any{}, v["properties"], all)
		}
		if v["type"] == "array" {
			require.IsType(t, map[string]any{}, v["items"], all)
		}
		for _, member := range v {
			requireStrict(t, member, all)
		}
	}
}

func TestCall(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		s := k.connect(t, nil, version)
		r := callTool(t, s, "fixture_echo", map[string]any{"text": "hello"})
		require.False(t, r.IsError)
		require.Equal(t, map[string]any{"text": "hello"}, r.StructuredContent)
		require.Equal(t, "rendered {\"text\":\"hello\"}\n", text(t, r))
	})
}

// What the SDK knows of the tools is nobody's business: it is neither listed nor can it be called.
func TestToolsThatThereAreNot(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		s := k.connect(t, nil, version)
		listed, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var names []string
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
		}
		require.Contains(t, names, "fixture_echo")
		require.NotContains(t, names, anyTool)
		require.IsIncreasing(t, names)
		for _, name := range []string{anyTool, "fixture_ech", ""} {
			_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name})
			require.ErrorContains(t, err, fmt.Sprintf("unknown tool %q", name))
		}
	})
}

// M05: what fails is a result that says so, and has no structured content, which would have to fit the output schema.
func TestFailuresAreResults(t *testing.T) {
	rules := []policy.Rule{{Name: "no-pids", Match: policy.Match{Provider: "fixture", ToolName: "pid"}, Action: policy.Deny}}
	k := start(t, rules, nil)
	tests := []struct {
		name, tool string
		args       map[string]any
		status     string
		category   string
		want       string
	}{
		{"refused by the provider", "fixture_refuse", nil, "failed", "not_found", "there is no moon"},
		{"wrong arguments", "fixture_echo", map[string]any{"txt": "a"}, "failed", "invalid_arguments", `did you mean "text"`},
		{"denied by the policy", "fixture_pid", nil, "denied", "permission_denied", `policy "no-pids" denies it`},
		{"too slow", "fixture_slow", nil, "failed", "timeout", "half of it was done"},
		{"breaks its schema", "fixture_liar", nil, "failed", "unknown", "does not fit what it declares"},
		{"dies", "fixture_die", map[string]any{"how": "panic"}, "crashed", "process_crashed", "fixture.die"}, // M01
	}
	s := k.connect(t, nil, "")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := callTool(t, s, test.tool, test.args)
			for range 5 { // a deadline that passes before a slow machine has begun leaves nothing to tell
				if test.category != "timeout" || strings.Contains(text(t, r), test.want) {
					break
				}
				r = callTool(t, k.connect(t, nil, ""), test.tool, test.args)
			}
			require.True(t, r.IsError)
			require.Nil(t, r.StructuredContent)
			require.Contains(t, text(t, r), test.want)
			require.True(t, strings.HasPrefix(text(t, r), test.category+": "), text(t, r))
			about := r.Meta[metaError].(map[string]any)
			require.Equal(t, test.status, about["status"])
			require.Equal(t, test.category, about["category"])
		})
	}
	require.Eventually(t, func() bool { // it is started again; each time in a new session, as the circuit breaker is of one
		return !callTool(t, k.connect(t, nil, ""), "fixture_echo", map[string]any{"text": "still here"}).IsError
	}, time.Minute, 200*time.Millisecond)
}

func TestFaultsOfTheProtocolAreErrors(t *testing.T) {
	s := start(t, nil, nil).connect(t, nil, "")
	for name, params := range map[string]*sdk.CallToolParams{
		"no such tool": {Name: "fixture_none"},
		"a list":       {Name: "fixture_echo", Arguments: []string{"a"}},
		"a large id":   {Name: "fixture_print", Arguments: json.RawMessage(`{"bytes": 12345678901234567890}`)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.CallTool(t.Context(), params)
			var wire *jsonrpc.Error
			require.ErrorAs(t, err, &wire)
			require.EqualValues(t, jsonrpc.CodeInvalidParams, wire.Code)
		})
	}
}

// M07: a call that is cancelled is cancelled at its provider; cancelling what does not run is nothing.
func TestCancellation(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		before := len(k.kept.outcomes())
		began := make(chan struct{}, 1)
		s := k.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if r.Params.Message == "blocking" {
				began <- struct{}{}
			}
		}}, version)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			p := &sdk.CallToolParams{Name: "fixture_block"}
			p.SetProgressToken("a")
			_, err := s.CallTool(ctx, p)
			failed <- err
		}()
		<-began
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
		require.Eventually(t, func() bool { return len(k.kept.outcomes()) > before }, time.Minute, 5*time.Millisecond)
		o := k.kept.outcomes()[before]
		require.Equal(t, engine.Cancelled, o.Status)
		require.Equal(t, "half of it was done", o.Report.Note)
		require.False(t, callTool(t, s, "fixture_echo", map[string]any{"text": "on"}).IsError)
	})
}

// A client that is told of another set of tools asks for it again.
func TestChangedToolsAreTold(t *testing.T) {
	var ops []engine.Operation
	k := start(t, nil, func(o *Options) {
		all := o.Engine.Operations()
		ops = all[:len(all)-3]
		o.Operations = func() []engine.Operation { return ops }
	})
	changed := make(chan struct{}, 1)
	s := k.connect(t, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}}, "2025-06-18")
	list, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	before := len(list.Tools)
	ops = ops[2:]
	k.server.Refresh()
	<-changed
	list, err = s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Less(t, len(list.Tools), before)
}

func TestCallsAreLimited(t *testing.T) {
	k := start(t, nil, func(o *Options) { o.MostCalls = 1 })
	began := make(chan struct{}, 1)
	s := k.connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
		select {
		case began <- struct{}{}:
		default:
		}
	}}, "2025-06-18")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		p := &sdk.CallToolParams{Name: "fixture_block"}
		p.SetProgressToken(1)
		_, _ = s.CallTool(ctx, p)
	}()
	<-began
	_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "fixture_pid"})
	require.ErrorContains(t, err, "which is the most")
}

// M01: a fault of the kernel is a result, too, and does not end the server; so is a session that cannot be kept.
func TestFaultsAreResults(t *testing.T) {
	broken := func() error { return errors.New("the disk is full") }
	k := start(t, nil, func(o *Options) {
		open := o.Open
		o.Open = func(a gate.Approver) (*engine.Session, func(error), error) {
			if err := broken(); err != nil {
				return nil, nil, err
			}
			return open(a)
		}
	})
	s := k.connect(t, nil, "")
	echo := func() *sdk.CallToolResult { return callTool(t, s, "fixture_echo", map[string]any{"text": "a"}) }
	r := echo()
	require.True(t, r.IsError)
	require.Equal(t, "unknown: fixture.echo was not run: the disk is full", text(t, r))
	broken = func() error { panic("ouch") }
	r = echo()
	require.True(t, r.IsError)
	require.Contains(t, text(t, r), "ouch")
	broken = func() error { return nil }
	require.False(t, echo().IsError)
}
