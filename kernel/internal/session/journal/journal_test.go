package journal_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/secret"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/history"
	"github.com/agentco/agent/kernel/internal/session/journal"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// kept is a session with the fixture, in a log of its own.
type kept struct {
	*engine.Session
	journal *journal.Journal
	path    string
	warned  []error
}

func keep(t *testing.T, folder string, approver gate.Approver, secrets *secret.Set) *kept {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{
		Providers: []engine.ProviderSpec{{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(hosttest.Good)}},
		Secrets:   secrets,
		Policies: []policy.Rule{
			{Name: "no-pid", Match: policy.Match{ToolName: "pid"}, Action: policy.Deny},
			{Name: "read", Match: policy.Match{ToolName: "echo"}, Action: policy.Allow},
			{Name: "free", Match: policy.Match{ToolName: "flaky_set"}, Action: policy.Allow},
		},
	})
	require.NoError(t, err)
	t.Cleanup(e.Close)
	k := &kept{}
	id := ulid.Make().String()
	log, err := session.NewLog(folder, session.Meta{ID: id}, nil)
	require.NoError(t, err)
	k.path = log.Path()
	k.journal = journal.New(log, journal.Options{
		SessionID: id, WorkingDir: "/somewhere", Version: "1.0.0", Secrets: secrets,
		Producers: func(string) []*commonv1.ProducerRef { return e.Providers()[0].Producers },
		Warn:      func(err error) { k.warned = append(k.warned, err) },
	})
	k.Session = e.Session(engine.SessionOptions{ID: id, Approver: approver, Journal: k.journal})
	t.Cleanup(func() { _ = k.journal.Close(session.Failed) })
	return k
}

func (k *kept) call(t *testing.T, ctx context.Context, tool string, args map[string]any, sink engine.Sink) engine.Outcome {
	t.Helper()
	op, err := k.Lookup("fixture", tool)
	require.NoError(t, err)
	arguments, err := structpb.NewStruct(args)
	require.NoError(t, err)
	return k.Invoke(ctx, engine.Request{Operation: op, Arguments: arguments}, sink)
}

// read closes the log and reads what is in it.
func (k *kept) read(t *testing.T) (*session.File, []*history.Call) {
	t.Helper()
	require.NoError(t, k.journal.Close(session.Completed))
	v, err := session.Verify(t.Context(), k.path)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	f, err := session.Open(t.Context(), k.path)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	calls, err := history.Calls(t.Context(), f)
	require.NoError(t, err)
	return f, calls
}

func kinds(t *testing.T, f *session.File) (all []session.Kind) {
	t.Helper()
	for e, err := range f.Events(t.Context()) {
		require.NoError(t, err)
		all = append(all, e.Kind)
	}
	return all
}

// Every call leaves its beginning and its end, however it ends.
func TestEveryEnd(t *testing.T) {
	target := filepath.Join(t.TempDir(), "target")
	for _, test := range []struct {
		name, tool string
		args       map[string]any
		status     string
		kinds      []session.Kind
		decidedBy  string
	}{
		{"completed", "sequence", nil, history.Completed, []session.Kind{session.ToolCall, session.ToolResult}, "default"},
		{"refused for its arguments", "echo", map[string]any{"txt": "x"}, history.Failed, []session.Kind{session.ToolCall, session.ToolResult}, ""},
		{"failed", "refuse", nil, history.Failed, []session.Kind{session.ToolCall, session.ToolResult}, ""},
		{"crashed", "die", map[string]any{"how": "exit"}, history.Crashed, []session.Kind{session.ToolCall, session.ToolResult}, ""},
		{"timed out", "slow", nil, history.Failed, []session.Kind{session.ToolCall, session.ToolResult}, ""},
		{"cancelled", "block", nil, history.Cancelled, []session.Kind{session.ToolCall, session.ToolResult}, ""},
		{"denied by a policy", "pid", nil, history.Denied, []session.Kind{session.ToolCall, session.Plan, session.ToolResult, session.Apply}, `policy "no-pid"`},
		{"denied by a person", "write", map[string]any{"path": target, "content": "no"}, history.Denied, []session.Kind{session.ToolCall, session.Plan, session.ToolResult, session.Apply}, "person"},
		{"approved by a person", "write", map[string]any{"path": target, "content": "yes"}, history.Completed, []session.Kind{session.ToolCall, session.Plan, session.ToolResult, session.Apply}, "person"},
		{"allowed by a policy", "flaky_set", map[string]any{"log": target, "times": 0.0, "category": "TIMEOUT"}, history.Completed, []session.Kind{session.ToolCall, session.Plan, session.ToolResult, session.Apply}, `policy "free"`},
		{"a reading allowed by a policy", "echo", map[string]any{"text": "x"}, history.Completed, []session.Kind{session.ToolCall, session.Plan, session.ToolResult, session.Apply}, `policy "read"`},
		{"refused at its preview", "write", map[string]any{"path": "refused:NOT_FOUND", "content": "x"}, history.Failed, []session.Kind{session.ToolCall, session.ToolResult}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := keep(t, t.TempDir(), gate.ApproverFunc(func(_ context.Context, questions []gate.Question) ([]gate.Answer, error) {
				yes := questions[0].GetInput().GetFields()["content"].GetStringValue() == "yes"
				return []gate.Answer{{Approved: yes, By: "person"}}, nil
			}), nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			outcome := k.call(t, ctx, test.tool, test.args, func(*toolv1.ToolEvent) {
				if test.tool == "block" {
					cancel()
				}
			})
			f, calls := k.read(t)
			require.Len(t, calls, 1)
			c := calls[0]
			require.Equal(t, test.status, c.Status)
			require.Equal(t, string(outcome.Status), c.Status)
			require.Equal(t, outcome.CallID, c.ID)
			require.Equal(t, "fixture."+test.tool, c.String())
			require.Equal(t, session.Producer{Category: "tool", Name: "fixture", Version: "1.2.3"}, c.Producer)
			require.Equal(t, outcome.Result.AsMap(), c.Result.AsMap())
			require.Equal(t, outcome.Error.GetMessage(), c.Error.GetMessage())
			require.Contains(t, c.DecidedBy(), test.decidedBy)
			if c.DecidedBy() != "" {
				require.Equal(t, outcome.DecidedBy, c.DecidedBy())
			}
			require.Equal(t, test.kinds, kinds(t, f))
			require.Empty(t, k.warned)
		})
	}
}

func TestOutputAndReportAreKept(t *testing.T) {
	k := keep(t, t.TempDir(), nil, nil)
	first := k.call(t, t.Context(), "sequence", nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	second := k.call(t, ctx, "block", nil, func(*toolv1.ToolEvent) { cancel() })
	require.Equal(t, engine.Cancelled, second.Status)
	f, calls := k.read(t)
	output := func(id string) (all []string) {
		for o, err := range f.Output(t.Context(), id) {
			require.NoError(t, err)
			all = append(all, o.Stream+": "+string(o.Data))
		}
		return all
	}
	require.Equal(t, []string{"stdout: ok\n", "stderr: FAIL\n"}, output(first.CallID))
	require.Equal(t, []string{"stdout: last words\n"}, output(second.CallID))
	details := calls[1].Error.GetDetails().AsMap()
	require.Equal(t, "half of it was done", details["note"])
	require.Equal(t, "last words\n", details["output"])
	require.EqualValues(t, 1, details["partial_result"].(map[string]any)["done"])
}

// K32: without a log a change does not happen, and reading goes on, with one warning.
func TestWithoutLog(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	k := keep(t, filepath.Join(blocked, "sessions"), gate.ApproveAll("--yes"), nil)
	for range 3 {
		require.Equal(t, engine.Completed, k.call(t, t.Context(), "echo", map[string]any{"text": "x"}, nil).Status)
	}
	require.Len(t, k.warned, 1)
	target := filepath.Join(t.TempDir(), "target")
	outcome := k.call(t, t.Context(), "write", map[string]any{"path": target, "content": "x"}, nil)
	require.Equal(t, engine.Failed, outcome.Status)
	require.Contains(t, outcome.Error.GetMessage(), "could not be logged")
	require.Contains(t, outcome.Error.GetMessage(), k.path)
	require.NoFileExists(t, target)
	require.Len(t, k.warned, 1)
}

// What could not be written at first is written as soon as it can be, and the call then runs.
func TestLogComesBack(t *testing.T) {
	state := t.TempDir()
	blocked := filepath.Join(state, "sessions")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	target := filepath.Join(t.TempDir(), "target")
	k := keep(t, blocked, gate.ApproveAll("--yes"), nil)
	require.Equal(t, engine.Failed, k.call(t, t.Context(), "write", map[string]any{"path": target, "content": "x"}, nil).Status)
	require.NoError(t, os.Remove(blocked))
	var last engine.Outcome
	for last.Status != engine.Completed {
		last = k.call(t, t.Context(), "write", map[string]any{"path": target, "content": "x"}, nil)
	}
	_, calls := k.read(t)
	require.NotEmpty(t, calls)
	require.Equal(t, last.CallID, calls[len(calls)-1].ID)
}

// K27: a secret is in nothing that is kept, however it comes.
func TestSecrets(t *testing.T) {
	const token = "s3cr3t-abc/+x"
	secrets := &secret.Set{}
	secrets.Hide(token)
	folder := t.TempDir()
	k := keep(t, folder, gate.ApproverFunc(func(_ context.Context, questions []gate.Question) ([]gate.Answer, error) {
		return []gate.Answer{{Reason: "since it has " + token}}, nil
	}), secrets)
	encoded := base64.StdEncoding.EncodeToString([]byte("me:" + token))
	outcome := k.call(t, t.Context(), "echo", map[string]any{"text": token + " and " + encoded}, nil)
	require.Equal(t, engine.Completed, outcome.Status)
	require.NotContains(t, outcome.Result.String(), "s3cr3t")
	k.call(t, t.Context(), "write", map[string]any{"path": token, "content": token}, nil)
	k.call(t, t.Context(), "echo", map[string]any{token: token}, nil)
	grep := func() {
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NotContains(t, string(content), "s3cr3t", file)
			require.NotContains(t, string(content), encoded, file)
		}
	}
	grep() // with the write-ahead log
	f, calls := k.read(t)
	grep()
	require.Len(t, calls, 3)
	require.Contains(t, calls[0].Arguments().String(), "********")
	require.NotNil(t, f)
}

// Arguments that are no UTF-8 are refused, and that they were is kept.
func TestInvalidText(t *testing.T) {
	k := keep(t, t.TempDir(), nil, nil)
	op, err := k.Lookup("fixture", "echo")
	require.NoError(t, err)
	args := &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue("a\xffb")}}
	k.Invoke(t.Context(), engine.Request{Operation: op, Arguments: args}, nil)
	_, calls := k.read(t)
	require.Len(t, calls, 1)
	require.Equal(t, "a\uFFFDb", calls[0].Arguments().AsMap()["text"])
}

// What a provider emits is kept in the session of its call, and it is told where. What only the kernel can know is not for
// a provider to say.
func TestEmitted(t *testing.T) {
	k := keep(t, t.TempDir(), nil, nil)
	o := k.call(t, t.Context(), "emit", map[string]any{"kind": "MESSAGE", "text": "hello"}, nil)
	require.Equal(t, engine.Completed, o.Status, o.Error)
	forged := k.call(t, t.Context(), "emit", map[string]any{"kind": "PLAN", "text": "approved"}, nil)
	require.Equal(t, engine.Failed, forged.Status)
	require.Contains(t, forged.Error.GetMessage(), "for the kernel to record")
	f, _ := k.read(t)
	require.Equal(t, []session.Kind{session.ToolCall, "message", session.ToolResult, session.ToolCall, session.ToolResult}, kinds(t, f))
	for e, err := range f.Events(t.Context()) {
		require.NoError(t, err)
		if e.Kind == "message" {
			require.Equal(t, "hello", string(e.Payload))
			require.Equal(t, "fixture", e.Producer.Name)
			require.Equal(t, e.ID, o.Result.AsMap()["id"])
			require.EqualValues(t, e.Sequence, o.Result.AsMap()["sequence"])
		}
	}
}

// BenchmarkCall is what the log adds to a call that a provider answers at once.
func BenchmarkCall(b *testing.B) {
	for _, logged := range []bool{false, true} {
		for _, tool := range []string{"echo", "flaky_set"} {
			name := tool + "/without log"
			if logged {
				name = tool + "/with log"
			}
			b.Run(name, func(b *testing.B) { benchmark(b, logged, tool) })
		}
	}
}

func benchmark(b *testing.B, logged bool, tool string) {
	e, err := engine.Open(b.Context(), engine.Options{
		Providers: []engine.ProviderSpec{{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(hosttest.Good)}},
		Policies:  []policy.Rule{{Name: "free", Match: policy.Match{ToolName: "flaky_set"}, Action: policy.Allow}},
	})
	require.NoError(b, err)
	defer e.Close()
	o := engine.SessionOptions{ID: ulid.Make().String()}
	var parts *timed
	if logged {
		log, err := session.NewLog(b.TempDir(), session.Meta{ID: o.ID}, nil)
		require.NoError(b, err)
		j := journal.New(log, journal.Options{SessionID: o.ID})
		defer func() { require.NoError(b, j.Close(session.Completed)) }()
		parts = &timed{Journal: j}
		o.Journal = parts
	}
	s := e.Session(o)
	op, err := s.Lookup("fixture", tool)
	require.NoError(b, err)
	args := map[string]any{"text": strings.Repeat("x", 100)}
	if tool == "flaky_set" {
		args = map[string]any{"log": filepath.Join(b.TempDir(), "x"), "times": 0.0, "category": "TIMEOUT"}
	}
	arguments, err := structpb.NewStruct(args)
	require.NoError(b, err)
	calls := 0
	for b.Loop() {
		calls++
		if o := s.Invoke(b.Context(), engine.Request{Operation: op, Arguments: arguments}, nil); o.Status == engine.Denied {
			b.Fatal(o.Error)
		}
	}
	if logged {
		parts.report(b, calls)
	}
}
