package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

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
