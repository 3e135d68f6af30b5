package engine

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestThreeDenialsInARowTripTheBreaker(t *testing.T) {
	asked := 0
	allowed := policy.Rule{Name: "free", Match: policy.Match{Arguments: map[string]string{"content": "free"}}, Action: policy.Allow}
	e := open(t, Options{Policies: []policy.Rule{allowed}}).Engine()
	no := gate.ApproverFunc(func(_ context.Context, items []gate.Question) ([]gate.Answer, error) {
		asked++
		return make([]gate.Answer, len(items)), nil
	})
	s := e.Session(SessionOptions{Approver: no})
	path := filepath.Join(t.TempDir(), "f")
	write := func(s *Session, content string) Outcome {
		return s.Invoke(t.Context(), request(t, s, "write", map[string]any{"path": path, "content": content}), nil)
	}
	for range 3 {
		require.Contains(t, write(s, "").Error.GetMessage(), "not approved")
	}
	o := write(s, "other")
	require.Equal(t, Denied, o.Status)
	require.Equal(t, "circuit breaker", o.DecidedBy)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, o.Error.GetCategory())
	require.Contains(t, o.Error.GetMessage(), "fixture.write was not run: its last 3 calls in this session were denied")
	require.Nil(t, o.Plan)
	require.Equal(t, 3, asked)

	require.Equal(t, Completed, s.Invoke(t.Context(), request(t, s, "echo", map[string]any{"text": "a"}), nil).Status, "of another operation")
	require.NotEqual(t, "circuit breaker", write(e.Session(SessionOptions{Approver: no}), "").DecidedBy, "in another session")
	require.Equal(t, Completed, write(s, "free").Status, "nobody has to be asked")
	require.Equal(t, "person", func() string {
		s.gate.Approver = gate.ApproveAll("person")
		return write(s, "").DecidedBy
	}(), "a call that ran ends the row")
}

func TestDenialsWithinOneTurn(t *testing.T) {
	s := open(t, Options{Policies: []policy.Rule{{Name: "frozen", Match: policy.Match{ToolName: "write"}, Action: policy.Deny}}})
	var calls []Request
	for range 5 {
		calls = append(calls, request(t, s, "write", map[string]any{"path": "/x", "content": ""}))
	}
	for range 2 {
		for _, o := range s.Turn(t.Context(), calls, func(int, *toolv1.ToolEvent) {}) {
			require.Contains(t, o.Error.GetMessage(), `policy "frozen" denies it`, "what the policy says is the better reason")
		}
	}
}

func TestCrashesTripTheBreaker(t *testing.T) {
	s := open(t, Options{})
	die := request(t, s, "die", map[string]any{"how": "exit 3"})
	for range 3 {
		require.Equal(t, Crashed, s.Invoke(t.Context(), die, nil).Status)
	}
	o := s.Invoke(t.Context(), die, nil)
	require.Equal(t, Denied, o.Status, "what is allowed, too")
	require.Contains(t, o.Error.GetMessage(), "crash of its provider (3 of them)")
}

// One death is one crash, however many calls it has cost.
func TestOneDeathDoesNotTripTheBreaker(t *testing.T) {
	s := open(t, Options{})
	const calls = 20
	block := request(t, s, "block", nil)
	outcomes := make([]Outcome, calls)
	var wait, begun sync.WaitGroup
	begun.Add(calls)
	for i := range calls {
		wait.Go(func() {
			begins := sync.OnceFunc(begun.Done)
			outcomes[i] = s.Invoke(t.Context(), block, func(*toolv1.ToolEvent) { begins() })
		})
	}
	begun.Wait()
	require.Equal(t, Crashed, s.Invoke(t.Context(), request(t, s, "die", map[string]any{"how": "kill"}), nil).Status)
	wait.Wait()
	for _, o := range outcomes {
		require.Equal(t, Crashed, o.Status, o.Error)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := s.Invoke(ctx, block, func(*toolv1.ToolEvent) { cancel() })
	require.Equal(t, Cancelled, o.Status, "it was let run: %v", o.Error)
}
