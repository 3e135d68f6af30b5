package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func quiet(int, *toolv1.ToolEvent) {}

// A call that comes after others begins when they have come to a good end, and is skipped when one has not.
func TestTurnInOrder(t *testing.T) {
	session := open(t, Options{}, SessionOptions{Approver: gate.ApproveAll("--yes")})
	file := filepath.Join(t.TempDir(), "f")
	write := request(t, session, "write", map[string]any{"path": file, "content": "hi"})
	echo := func(after ...int) Request {
		r := request(t, session, "echo", map[string]any{"text": "a"})
		r.After = after
		return r
	}
	tests := []struct {
		name     string
		requests []Request
		want     []Status
		why      string // of the last
	}{
		{"all good", []Request{write, echo(0), echo(0, 1)}, []Status{Completed, Completed, Completed}, ""},
		{"arguments that do not fit", []Request{request(t, session, "echo", nil), echo(0), echo(1), echo()}, []Status{Failed, Skipped, Skipped, Completed}, ""},
		{"a command that failed", []Request{request(t, session, "sequence", nil), echo(0)}, []Status{Completed, Skipped},
			"fixture.echo was not run: it comes after fixture.sequence, which ran something that failed"},
		{"itself and later ones are not before it", []Request{echo(0, 1, 7), echo()}, []Status{Completed, Completed}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []Status
			outcomes := session.Turn(t.Context(), tt.requests, quiet)
			for _, o := range outcomes {
				got = append(got, o.Status)
			}
			require.Equal(t, tt.want, got)
			if tt.why != "" {
				require.Equal(t, tt.why, outcomes[len(outcomes)-1].Error.GetMessage())
			}
		})
	}
}

// A call that is given up while it waits for the log was cancelled, whatever becomes of the log.
func TestCancelledInTheWaitForTheLog(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	session := open(t, Options{}, SessionOptions{Approver: gate.ApproveAll("--yes"), Journal: slowJournal{flushes: cancel}})
	file := filepath.Join(t.TempDir(), "f")
	o := session.Invoke(ctx, request(t, session, "write", map[string]any{"path": file, "content": "hi"}), nil)
	require.Equal(t, Cancelled, o.Status, o.Error)
	require.Contains(t, o.Error.GetMessage(), "was cancelled before it began")
	require.NoFileExists(t, file)
}

// slowJournal is given up in each flush.
type slowJournal struct {
	noJournal
	flushes func()
}

func (j slowJournal) Flush(ctx context.Context) error {
	j.flushes()
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestTurnInOrderIsCancelled(t *testing.T) {
	session := open(t, Options{}, SessionOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	hang := request(t, session, "block", nil)
	after := request(t, session, "echo", map[string]any{"text": "a"})
	after.After = []int{0}
	outcomes := session.Turn(ctx, []Request{hang, after}, func(int, *toolv1.ToolEvent) { cancel() })
	require.Equal(t, Cancelled, outcomes[0].Status)
	require.Equal(t, Cancelled, outcomes[1].Status)
}

// What follows a call begins after everybody was told of its end.
func TestTurnTellsOfBeginningsAndEnds(t *testing.T) {
	session := open(t, Options{}, SessionOptions{Approver: gate.ApproveAll("--yes")})
	var mu sync.Mutex
	var seen []string
	watched := func(id string, refuse error, after ...int) Request {
		r := request(t, session, "echo", map[string]any{"text": "a"})
		say := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, id+" "+what)
		}
		r.CallID, r.After = id, after
		r.Began = func() error { say("began"); return refuse }
		r.Ended = func(o Outcome) { say(string(o.Status)) }
		return r
	}
	outcomes := session.Turn(t.Context(), []Request{watched("a", nil), watched("b", nil, 0), watched("c", errors.New("no trace"), 1), watched("d", nil, 2)}, quiet)
	require.Equal(t, []string{"a began", "a completed", "b began", "b completed", "c began", "c failed", "d skipped"}, seen)
	require.Equal(t, "b", outcomes[1].CallID)
	require.Contains(t, outcomes[2].Error.GetMessage(), "no trace")
	require.Zero(t, outcomes[2].Took, "it never reached its provider")
}

// K29: a call whose arguments were changed at the question runs with those that were shown then.
func TestRevisedCallRuns(t *testing.T) {
	dir := t.TempDir()
	args := func(m map[string]any) *structpb.Struct {
		s, err := structpb.NewStruct(m)
		require.NoError(t, err)
		return s
	}
	var problems []string
	session := open(t, Options{Policies: []policy.Rule{}}, SessionOptions{Approver: gate.ApproverFunc(func(ctx context.Context, questions []gate.Question) ([]gate.Answer, error) {
		q := questions[0]
		for _, m := range []map[string]any{{"path": 1}, {"path": filepath.Join(dir, "b"), "content": "other"}} {
			problems = append(problems, q.Problem)
			q = q.Revise(ctx, args(m))
		}
		problems = append(problems, q.Problem)
		return []gate.Answer{{Approved: true, By: "person", Revised: &q}}, nil
	})})
	o := session.Invoke(t.Context(), request(t, session, "write", map[string]any{"path": filepath.Join(dir, "a"), "content": "x"}), nil)
	require.Equal(t, Completed, o.Status, o.Error)
	require.Empty(t, problems[0])
	require.Contains(t, problems[1], `"path" must be a string, not a number`)
	require.Empty(t, problems[2])
	require.NoFileExists(t, filepath.Join(dir, "a"))
	content, err := os.ReadFile(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.Equal(t, "other", string(content))
	require.Equal(t, "other", o.Plan.GetInput().AsMap()["content"])
}
