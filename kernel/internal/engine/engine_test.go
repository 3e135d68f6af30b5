package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/policy"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

func fixture(name string, m hosttest.Mode) ProviderSpec {
	return ProviderSpec{Name: name, Path: hosttest.Path(), Env: hosttest.Env(m)}
}

// open begins a session with the fixture, unless o says what to start.
func open(t *testing.T, o Options, session ...SessionOptions) *Session {
	t.Helper()
	if o.Providers == nil {
		o.Providers = []ProviderSpec{fixture("fixture", hosttest.Good)}
	}
	e, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	return e.Session(append(session, SessionOptions{})[0])
}

func request(t *testing.T, s *Session, name string, args map[string]any) Request {
	t.Helper()
	op, err := s.Lookup("fixture", name)
	if err != nil {
		op, err = s.LookupCommand(name)
	}
	require.NoError(t, err)
	arguments, err := structpb.NewStruct(args)
	require.NoError(t, err)
	return Request{Operation: op, Arguments: arguments}
}

func TestInvokeCompletes(t *testing.T) {
	session := open(t, Options{})
	r := hosttest.NewRecorder()
	o := session.Invoke(t.Context(), request(t, session, "sequence", nil), r.Show)
	require.Equal(t, Completed, o.Status, o.Error)
	require.Equal(t, []string{"progress", "output_chunk", "output_chunk", "exit_status", "result"}, r.Names())
	require.Equal(t, "1 package failed", o.Result.AsMap()["summary"])
	require.Equal(t, int32(1), o.ExitStatus.GetExitCode())
	require.Equal(t, "fixture.sequence", o.Operation)
	require.Contains(t, o.DecidedBy, "default")
	require.Positive(t, o.Took)
	require.Nil(t, o.Error)
	require.Nil(t, o.Plan)
	require.Equal(t, Completed, session.Invoke(t.Context(), request(t, session, "sequence", nil), nil).Status, "nobody has to listen")
}

// A fault of whoever is shown the events leaves an end in the log, too.
func TestInvokeWithAFaultyFace(t *testing.T) {
	kept := &decisions{}
	session := open(t, Options{}, SessionOptions{Journal: kept})
	require.PanicsWithValue(t, "oops", func() {
		session.Invoke(t.Context(), request(t, session, "sequence", nil), func(*toolv1.ToolEvent) { panic("oops") })
	})
	require.Len(t, kept.ended, 1)
	require.Equal(t, Failed, kept.ended[0].Status)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, kept.ended[0].Error.GetCategory())
	require.Contains(t, kept.ended[0].Error.GetMessage(), "fixture.sequence met a fault of the kernel")
}

func TestInvokeChecksArgumentsFirst(t *testing.T) {
	asked := false
	session := open(t, Options{}, SessionOptions{Approver: gate.ApproverFunc(func(context.Context, []gate.Question) ([]gate.Answer, error) {
		asked = true
		return nil, errors.New("must not be asked")
	})})
	tests := []struct {
		name     string
		args     map[string]any
		argument string
		want     string
	}{
		{"missing", map[string]any{"path": "x"}, "content", `"content" is missing (string, required)`},
		{"wrong type", map[string]any{"path": 1, "content": ""}, "path", `"path" must be a string, not a number`},
		{"unknown", map[string]any{"path": "x", "content": "", "contents": ""}, "contents", `"contents" is not known (did you mean "content"?)`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := hosttest.NewRecorder()
			req := request(t, session, "write", test.args)
			o := session.Invoke(t.Context(), req, r.Show)
			require.Equal(t, Failed, o.Status)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, o.Error.GetCategory())
			require.Contains(t, o.Error.GetMessage(), test.want)
			require.Equal(t, test.argument, o.Error.GetDetails().AsMap()["argument"])
			require.Empty(t, r.Names())
		})
	}
	require.False(t, asked)
}

func TestInvokeGate(t *testing.T) {
	deny := []policy.Rule{{Name: "frozen", Match: policy.Match{Provider: "fixture", Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE}, Action: policy.Deny}}
	allow := []policy.Rule{{Name: "free", Match: policy.Match{ToolName: "write"}, Action: policy.Allow}}
	tests := []struct {
		name     string
		policies []policy.Rule
		approver gate.Approver
		want     Status
		by       string
	}{
		{"nobody to ask", nil, nil, Denied, "default"}, // K28
		{"approved", nil, gate.ApproveAll("--yes"), Completed, "--yes"},
		{"policy denies over --yes", deny, gate.ApproveAll("--yes"), Denied, `policy "frozen"`},
		{"policy allows", allow, nil, Completed, `policy "free"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			session := open(t, Options{Policies: test.policies}, SessionOptions{Approver: test.approver})
			path := filepath.Join(t.TempDir(), "f")
			r := hosttest.NewRecorder()
			o := session.Invoke(t.Context(), request(t, session, "write", map[string]any{"path": path, "content": "hi"}), r.Show)
			require.Equal(t, test.want, o.Status, o.Error)
			require.Contains(t, o.DecidedBy, test.by)
			if test.want == Completed {
				require.FileExists(t, path)
				return
			}
			require.NoFileExists(t, path)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, o.Error.GetCategory())
			require.Empty(t, r.Names())
		})
	}
}

func TestApproverSeesThePreview(t *testing.T) {
	var seen []gate.Question
	session := open(t, Options{}, SessionOptions{Approver: gate.ApproverFunc(func(_ context.Context, items []gate.Question) ([]gate.Answer, error) {
		seen = items
		return []gate.Answer{{By: "person", Reason: "no"}}, nil
	})})
	o := session.Invoke(t.Context(), request(t, session, "write", map[string]any{"path": "/x", "content": ""}), nil)
	require.Equal(t, Denied, o.Status)
	require.Len(t, seen, 1)
	require.Equal(t, "would write /x", seen[0].GetPreview().GetRoot().GetText().GetContent())
	require.Equal(t, o.CallID, seen[0].GetCallId())
	require.Same(t, seen[0].PlanItem, o.Plan)
}

func TestRefusedPreview(t *testing.T) {
	tests := []struct {
		category toolv1.ToolErrorCategory
		asked    bool
	}{
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, false},
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, false},
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, false},
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, false},
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT, false},
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, true},
		{toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, true},
	}
	for _, test := range tests {
		name := strings.TrimPrefix(test.category.String(), "TOOL_ERROR_CATEGORY_")
		t.Run(name, func(t *testing.T) {
			var shown string
			session := open(t, Options{}, SessionOptions{Approver: gate.ApproverFunc(func(_ context.Context, items []gate.Question) ([]gate.Answer, error) {
				shown = items[0].GetPreview().String()
				return make([]gate.Answer, len(items)), nil
			})})
			r := hosttest.NewRecorder()
			o := session.Invoke(t.Context(), request(t, session, "write", map[string]any{"path": "refused:" + name, "content": ""}), r.Show)
			require.Empty(t, r.Names())
			if test.asked {
				require.Equal(t, Denied, o.Status)
				require.Contains(t, shown, "no preview: it cannot be")
				require.Contains(t, shown, "refused:"+name)
				return
			}
			require.Empty(t, shown, "nobody may be asked")
			require.Equal(t, Failed, o.Status)
			require.Equal(t, test.category, o.Error.GetCategory())
			require.Equal(t, "it cannot be", o.Error.GetMessage())
			require.Empty(t, o.DecidedBy)
		})
	}
}

func TestTurnAsksOnceAndDoesNotHoldUpTheRest(t *testing.T) {
	finished := make(chan struct{})
	session := open(t, Options{}, SessionOptions{Approver: gate.ApproverFunc(func(ctx context.Context, items []gate.Question) ([]gate.Answer, error) {
		<-finished // the reading calls end while the question is open
		return []gate.Answer{{Approved: true, By: "person"}, {By: "person"}}, nil
	})})
	path := filepath.Join(t.TempDir(), "f")
	var once sync.Once
	outcomes := session.Turn(t.Context(), []Request{
		request(t, session, "write", map[string]any{"path": path, "content": "hi"}),
		request(t, session, "echo", map[string]any{"text": "a"}),
		request(t, session, "echo", nil),
		request(t, session, "write", map[string]any{"path": path + "2", "content": "hi"}),
	}, func(i int, event *toolv1.ToolEvent) {
		if i == 1 && event.GetResult() != nil {
			once.Do(func() { close(finished) })
		}
	})
	var got []Status
	for _, o := range outcomes {
		got = append(got, o.Status)
	}
	require.Equal(t, []Status{Completed, Completed, Failed, Denied}, got)
	require.FileExists(t, path)
	require.NoFileExists(t, path+"2")
	require.NotEqual(t, outcomes[0].CallID, outcomes[1].CallID)
}

func TestOpenReportsEveryFailureAndKeepsTheRest(t *testing.T) {
	e, err := Open(t.Context(), Options{Providers: []ProviderSpec{
		fixture("dying", hosttest.Dying), fixture("fixture", hosttest.Good), fixture("chatty", hosttest.Chatty), fixture("fixture", hosttest.Good),
	}})
	require.NotNil(t, e)
	defer e.Close()
	var failed []string
	for _, f := range Failures(err) {
		failed = append(failed, f.Provider)
	}
	require.Equal(t, []string{"dying", "chatty", "fixture"}, failed)
	require.Len(t, e.Providers(), 1)
	_, lookup := e.Lookup("dying", "echo")
	require.ErrorContains(t, lookup, "could not be started")
	session := e.Session(SessionOptions{})
	require.Equal(t, Completed, session.Invoke(t.Context(), request(t, session, "echo", map[string]any{"text": "hi"}), nil).Status)
	o := session.Invoke(t.Context(), Request{Operation: Operation{Provider: "dying", Name: "x"}}, nil)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, o.Error.GetCategory())
}

func TestOpenRefusesContradictingPolicies(t *testing.T) {
	e, err := Open(t.Context(), Options{Policies: []policy.Rule{{Name: "a", Action: policy.Allow}, {Name: "b", Action: policy.Deny}}})
	require.Nil(t, e)
	require.ErrorContains(t, err, `policy "a" says allow and policy "b" says deny`)
}

func TestConfigErrorIsHandedThrough(t *testing.T) {
	mine := errors.New("agent.hcl:3: no")
	s := fixture("fixture", hosttest.Good)
	s.Config = func(*configv1.ConfigSchema) (*structpb.Struct, error) { return nil, mine }
	e, err := Open(t.Context(), Options{Providers: []ProviderSpec{s}})
	t.Cleanup(e.Close)
	require.ErrorIs(t, err, mine)
	require.Equal(t, StageConfig, Failures(err)[0].Stage)
}

func TestLookup(t *testing.T) {
	session := open(t, Options{})
	tests := []struct {
		name, provider, tool string
		suggestion, want     string
	}{
		{"tool", "fixture", "ecco", "fixture.echo", `provider "fixture" has no tool "ecco"`},
		{"provider", "fixtrue", "echo", "fixture.echo", `there is no provider "fixtrue"`},
		{"nothing near", "moon", "landing", "", `there is no provider "moon"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := session.Lookup(test.provider, test.tool)
			var lookup *LookupError
			require.ErrorAs(t, err, &lookup)
			require.Contains(t, err.Error(), test.want)
			require.Equal(t, test.suggestion, lookup.Suggestion)
		})
	}
	for _, name := range []string{"hello", "/hello", "fixture.hello", "/fixture.hello"} {
		op, err := session.LookupCommand(name)
		require.NoError(t, err)
		require.Equal(t, "/hello", op.String())
	}
	_, err := session.LookupCommand("helo")
	require.ErrorContains(t, err, `there is no command /helo`)
	require.ErrorContains(t, err, `did you mean "/hello"?`)
	ops := session.Operations()
	require.Equal(t, "big", ops[0].Name)
	require.True(t, ops[len(ops)-1].IsCommand())
}

func TestLookupCommandOfTwoProviders(t *testing.T) {
	session := open(t, Options{Providers: []ProviderSpec{fixture("one", hosttest.Good), fixture("two", hosttest.Good)}})
	_, err := session.LookupCommand("/hello")
	require.ErrorContains(t, err, "say /one.hello or /two.hello")
	op, err := session.LookupCommand("/two.hello")
	require.NoError(t, err)
	require.Equal(t, "two", op.Provider)
}

func TestShowFallsBack(t *testing.T) {
	session := open(t, Options{})
	payload := request(t, session, "echo", map[string]any{"text": "plain"}).Arguments
	op := request(t, session, "echo", nil).Operation
	require.Contains(t, session.Engine().Render(t.Context(), op, payload).GetRoot().GetCodeBlock().GetContent(), `"text": "plain"`)
	require.Contains(t, session.Engine().Render(t.Context(), op, nil).GetRoot().GetText().GetContent(), "rendered {}")
	require.NotNil(t, session.Engine().Render(t.Context(), Operation{Provider: "nobody"}, payload))
	require.NotNil(t, session.Engine().RenderPart(t.Context(), op, nil))
	require.Nil(t, session.Engine().RenderPart(t.Context(), op, payload), "a part that its provider cannot show is left to the result")
}

// A result that is going to be shown comes with how, from wherever that is.
func TestOutcomeHasARendering(t *testing.T) {
	session := open(t, Options{})
	for _, test := range []struct{ name, text, want string }{
		{"sent along", "along:a tree", "sent along: a tree"},
		{"asked for", "hi", "rendered {"},
		{"sent along, and of no use", "along:no tree", "rendered {"},
		{"kept", "along:kept, a tree", "kept, a tree"},
		{"kept, and gone", "along:kept, and gone", "rendered {"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request(t, session, "echo", map[string]any{"text": test.text})
			o := session.Invoke(t.Context(), r, nil)
			require.Equal(t, Completed, o.Status, o.Error)
			require.Nil(t, o.Rendering)
			r.Render = true
			o = session.Invoke(t.Context(), r, nil)
			require.Contains(t, o.Rendering.GetRoot().GetText().GetContent(), test.want)
		})
	}
	r := request(t, session, "refuse", nil)
	r.Render = true
	require.Nil(t, session.Invoke(t.Context(), r, nil).Rendering)
}

// A provider cannot know the deadline that the kernel gives a call, so the preview says it when the call may take less
// than its operation asks for. The write of the fixture asks for no time: two minutes.
func TestPreviewSaysTheDeadline(t *testing.T) {
	for _, tt := range []struct {
		name             string
		call, configured time.Duration
		want             string
	}{
		{"none", 0, 0, ""},
		{"of the call", 5 * time.Second, 0, "for at most 5s, the deadline of the call"},
		{"of the configuration", 0, time.Second, "for at most 1s, the deadline of the call"},
		{"of both", 5 * time.Second, time.Second, "for at most 5s, the deadline of the call"},
		{"the operation's own", 2 * time.Minute, 0, ""},
		{"longer", time.Hour, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := fixture("fixture", hosttest.Good)
			spec.Timeout = tt.configured
			session := open(t, Options{Providers: []ProviderSpec{spec}})
			r := request(t, session, "write", map[string]any{"path": "x", "content": ""})
			r.Timeout = tt.call
			x, problem := session.Explain(t.Context(), r)
			require.Nil(t, problem)
			if shown := x.Preview.String(); tt.want == "" {
				require.NotContains(t, shown, "deadline")
			} else {
				require.Contains(t, shown, tt.want)
				require.Contains(t, shown, "would write x", "what the provider says comes first")
			}
		})
	}
}

func TestExplain(t *testing.T) {
	session := open(t, Options{Policies: []policy.Rule{{Name: "x", Match: policy.Match{Arguments: map[string]string{"path": "x*"}}, Action: policy.Deny}}})
	x, problem := session.Explain(t.Context(), request(t, session, "write", map[string]any{"path": "x", "content": ""}))
	require.Nil(t, problem)
	require.Equal(t, policy.Deny, x.Action)
	require.True(t, x.Rules[0].Won)
	require.Equal(t, "would write x", x.Preview.GetRoot().GetText().GetContent())
	x, problem = session.Explain(t.Context(), request(t, session, "echo", map[string]any{"text": "hi"}))
	require.Nil(t, problem)
	require.Equal(t, policy.Allow, x.Action)
	require.Equal(t, `the call has no text argument "path"`, x.Rules[0].Why)
	require.Contains(t, x.Preview.String(), "hi")
	x, problem = session.Explain(t.Context(), request(t, session, "write", map[string]any{"path": "refused:NOT_FOUND", "content": ""}))
	require.Nil(t, problem)
	require.Nil(t, x.Preview)
	require.Equal(t, "it cannot be", x.Refusal.GetMessage())
	_, problem = session.Explain(t.Context(), request(t, session, "write", nil))
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, problem.GetCategory())
}

func TestWorkingDirectories(t *testing.T) {
	root, work := t.TempDir(), t.TempDir()
	session := open(t, Options{ProjectRoot: root, WorkingDir: work})
	require.Equal(t, work, session.workingDir)
	require.NotEmpty(t, session.ID())
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, here, open(t, Options{}).workingDir)
}
