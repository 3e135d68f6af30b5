package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

func write(path string) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: "fixture_write", Arguments: map[string]any{"path": path, "content": "x"}}
}

// M09 a: who cannot ask is denied at once, and told what would have allowed the call.
func TestClientThatCannotAsk(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		path := filepath.Join(t.TempDir(), "a")
		r, err := k.connect(t, nil, version).CallTool(t.Context(), write(path))
		require.NoError(t, err)
		require.True(t, r.IsError)
		require.NotContains(t, text(t, r), "--yes")
		for _, want := range []string{"Start agent mcp with --approve 'fixture.write', or let it run", `policy "allow-write"`, "it does not offer elicitation"} {
			require.Contains(t, text(t, r), want)
		}
		require.NoFileExists(t, path)
	})
}

// M09 a: also when it is told so often that the circuit breaker answers, what would allow the call is named.
func TestDeniedOverAndOver(t *testing.T) {
	s := start(t, nil, nil).connect(t, nil, "")
	for range 5 {
		r, err := s.CallTool(t.Context(), write(filepath.Join(t.TempDir(), "a")))
		require.NoError(t, err)
		require.Contains(t, text(t, r), "--approve 'fixture.write'")
		require.Contains(t, text(t, r), "policy")
	}
}

// M09 b and c: who can ask is asked, within the call or between two requests, and the call runs once.
func TestApproval(t *testing.T) {
	tests := []struct {
		name     string
		answer   sdk.ElicitResult
		approved bool
		want     string
	}{
		{"yes", sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, true, ""},
		{"a form that says no", sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "deny"}}, false, "refused by the person at tester"},
		{"declined", sdk.ElicitResult{Action: "decline"}, false, "refused by the person at tester"},
		{"closed", sdk.ElicitResult{Action: "cancel"}, false, "closed without an answer"},
	}
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				var asked []*sdk.ElicitParams
				s := k.connect(t, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked = append(asked, r.Params)
					return &test.answer, nil
				}}, version)
				path := filepath.Join(t.TempDir(), "a")
				r, err := s.CallTool(t.Context(), write(path))
				require.NoError(t, err)
				require.Len(t, asked, 1)
				require.Contains(t, asked[0].Message, "fixture.write wants to change something (risk moderate)")
				require.Contains(t, asked[0].Message, "\n│ would write "+path)
				require.Equal(t, !test.approved, r.IsError)
				if test.approved {
					require.FileExists(t, path)
					return
				}
				require.NoFileExists(t, path)
				require.Contains(t, text(t, r), test.want)
			})
		}
	})
}

// An accepted form without a decision is no yes, in a client that does not hold itself to the schema.
func TestOnlyAYesIsOne(t *testing.T) {
	for _, content := range []map[string]any{nil, {}, {"decision": ""}, {"decision": true}, {"decision": "APPROVE"}, {"decision": "yes"}} {
		require.False(t, answered(gate.Question{}, &sdk.ElicitResult{Action: "accept", Content: content}, "x").Approved, "%v", content)
	}
	for action, reason := range map[string]string{
		"": "x sent no answer", "decline": "refused by the person at x", "cancel": "closed without an answer", "Accept": "x sent no answer",
	} {
		a := answered(gate.Question{}, &sdk.ElicitResult{Action: action, Content: map[string]any{"decision": "approve"}}, "x")
		require.False(t, a.Approved, action)
		require.Contains(t, a.Reason, reason)
	}
}

func TestApprovalForTheSession(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		asked := 0
		o := &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked++
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve", "scope": "session"}}, nil
		}}
		s, dir := k.connect(t, o, version), t.TempDir()
		for _, name := range []string{"a", "b"} {
			r, err := s.CallTool(t.Context(), write(filepath.Join(dir, name)))
			require.NoError(t, err)
			require.False(t, r.IsError, text(t, r))
		}
		require.Equal(t, 1, asked, "the folder was approved")
		r, err := k.connect(t, nil, version).CallTool(t.Context(), write(filepath.Join(dir, "c")))
		require.NoError(t, err)
		require.True(t, r.IsError, "in that session, and in no other")
	})
}

// M09 d: who never answers is not waited for for ever.
func TestNobodyAnswers(t *testing.T) {
	k := start(t, nil, func(o *Options) { o.Patience = 50 * time.Millisecond })
	forEachVersion(t, func(t *testing.T, version string) {
		before := len(k.kept.outcomes())
		o := &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			for len(k.kept.outcomes()) == before && ctx.Err() == nil { // it comes too late, however slow the other side is
				runtime.Gosched()
			}
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
		}}
		path := filepath.Join(t.TempDir(), "a")
		r, err := k.connect(t, o, version).CallTool(t.Context(), write(path))
		require.NoError(t, err)
		require.True(t, r.IsError)
		require.Contains(t, text(t, r), "nobody answered within 50ms. Start agent mcp with --approve 'fixture.write', or let it run always with a policy in agent.hcl:")
		require.NotContains(t, text(t, r), "--yes")
		require.NoFileExists(t, path)
	})
}

// K28: what was approved beforehand runs unasked; a deny stands.
func TestApprovedBeforehand(t *testing.T) {
	rules := []policy.Rule{{Name: "not-there", Match: policy.Match{ToolName: "write", Arguments: map[string]string{"path": "/**/no/*"}}, Action: policy.Deny}}
	k := start(t, rules, func(o *Options) { o.Approve = []string{"fixture.w*"} })
	s, dir := k.connect(t, nil, ""), t.TempDir()
	r, err := s.CallTool(t.Context(), write(filepath.Join(dir, "a")))
	require.NoError(t, err)
	require.False(t, r.IsError, text(t, r))
	require.Equal(t, "--approve fixture.w*", k.kept.outcomes()[0].DecidedBy)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "no"), 0o755))
	r, err = s.CallTool(t.Context(), write(filepath.Join(dir, "no", "b")))
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Contains(t, text(t, r), `policy "not-there" denies it`)
}

func TestEverythingApproved(t *testing.T) {
	k := start(t, nil, func(o *Options) { o.ApproveAll = "--yes" })
	r, err := k.connect(t, nil, "").CallTool(t.Context(), write(filepath.Join(t.TempDir(), "a")))
	require.NoError(t, err)
	require.False(t, r.IsError, text(t, r))
	require.Equal(t, "--yes", k.kept.outcomes()[0].DecidedBy)
}

// What a client gives back is good once, for the call that was asked about, from the client that was asked.
func TestRequestStateIsGoodOnce(t *testing.T) {
	k := start(t, nil, nil)
	manual := &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	}
	yes := sdk.InputResponseMap{approval: &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}}
	ask := func(t *testing.T, s *sdk.ClientSession, path string) string {
		r, err := s.CallTool(t.Context(), write(path))
		require.NoError(t, err)
		require.True(t, r.NeedsInput())
		return r.RequestState
	}
	again := func(path, state string) *sdk.CallToolParams {
		p := write(path)
		p.RequestState, p.InputResponses = state, yes
		return p
	}
	t.Run("twice", func(t *testing.T) {
		s, path := k.connect(t, manual, multiRound), filepath.Join(t.TempDir(), "a")
		state := ask(t, s, path)
		r, err := s.CallTool(t.Context(), again(path, state))
		require.NoError(t, err)
		require.False(t, r.IsError, text(t, r))
		_, err = s.CallTool(t.Context(), again(path, state))
		require.ErrorContains(t, err, "stands for no question that is open")
	})
	t.Run("another call", func(t *testing.T) {
		s, path := k.connect(t, manual, multiRound), filepath.Join(t.TempDir(), "a")
		state := ask(t, s, path)
		_, err := s.CallTool(t.Context(), again(path+"2", state))
		require.ErrorContains(t, err, "the call is another than the one that was asked about")
		require.NoFileExists(t, path)
		require.NoFileExists(t, path+"2")
	})
	t.Run("another client", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a")
		state := ask(t, k.connect(t, manual, multiRound), path)
		_, err := k.connect(t, manual, multiRound).CallTool(t.Context(), again(path, state))
		require.ErrorContains(t, err, "stands for no question that is open")
		require.NoFileExists(t, path)
	})
	t.Run("without an answer", func(t *testing.T) {
		s, path := k.connect(t, manual, multiRound), filepath.Join(t.TempDir(), "a")
		p := again(path, ask(t, s, path))
		p.InputResponses = nil
		r, err := s.CallTool(t.Context(), p)
		require.NoError(t, err)
		require.True(t, r.IsError)
		require.NoFileExists(t, path)
	})
	t.Run("too many at a time", func(t *testing.T) {
		s, dir := k.connect(t, manual, multiRound), t.TempDir()
		for i := range mostWaiting {
			ask(t, s, filepath.Join(dir, fmt.Sprint(i)))
		}
		_, err := s.CallTool(t.Context(), write(filepath.Join(dir, "more")))
		require.ErrorContains(t, err, "too many calls")
	})
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

// A call can be cancelled while a person thinks about it: it is not run then.
func TestCancelledQuestion(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		asked := make(chan struct{})
		s := k.connect(t, &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		}}, version)
		path := filepath.Join(t.TempDir(), "a")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, write(path))
			failed <- err
		}()
		<-asked
		cancel()
		require.Error(t, <-failed)
		require.NoError(t, s.Close())
		require.Eventually(t, func() bool { return len(k.kept.outcomes()) > 0 }, time.Minute, 5*time.Millisecond)
		for _, o := range k.kept.outcomes() {
			require.Equal(t, engine.Cancelled, o.Status)
		}
		require.NoFileExists(t, path)
	})
}
