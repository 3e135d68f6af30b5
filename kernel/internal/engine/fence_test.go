package engine

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// decisions is a journal of what was planned and how it ended.
type decisions struct {
	noJournal
	planned []*planv1.PlanItem
	ended   []Outcome
}

func (d *decisions) Planned(_ string, item *planv1.PlanItem) { d.planned = append(d.planned, item) }
func (d *decisions) Ended(o Outcome) error                   { d.ended = append(d.ended, o); return nil }

func TestFence(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	within := &policy.Fence{Name: "the folders of the test", Folders: []string{in}, Remedy: "stay there"}
	asked, kept := 0, &decisions{}
	frozen := policy.Rule{Name: "frozen", Match: policy.Match{Arguments: map[string]string{"content": "frozen"}}, Action: policy.Deny}
	free := policy.Rule{Name: "free", Match: policy.Match{Arguments: map[string]string{"content": "free"}}, Action: policy.Allow}
	s := open(t, Options{ProjectRoot: in, Policies: []policy.Rule{frozen, free}}, SessionOptions{
		Journal: kept,
		Approver: gate.ApproverFunc(func(context.Context, []gate.Question) ([]gate.Answer, error) {
			asked++
			return []gate.Answer{{Approved: true, By: "person"}}, nil
		}),
	})
	write := func(path, content string) Outcome {
		r := request(t, s, "write", map[string]any{"path": path, "content": content})
		r.Within = within
		events := hosttest.NewRecorder()
		o := s.Invoke(t.Context(), r, events.Show)
		if o.Status == Denied {
			require.Empty(t, events.Names())
		}
		return o
	}

	for range 4 { // more than it takes to trip the breaker
		o := write(filepath.Join(out, "a"), "x")
		require.Equal(t, Denied, o.Status)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, o.Error.GetCategory())
		require.Equal(t, "fixture.write was not run: "+filepath.Join(out, "a")+" is outside the folders of the test ("+in+"): stay there", o.Error.GetMessage())
		require.Equal(t, "the folders of the test", o.DecidedBy)
	}
	require.Equal(t, Denied, write(filepath.Join(out, "a"), "free").Status, "whatever the policy allows")
	require.Contains(t, write(filepath.Join(out, "a"), "frozen").Error.GetMessage(), `policy "frozen" denies it`, "what the policy says is the better reason")
	require.NoFileExists(t, filepath.Join(out, "a"))
	require.Zero(t, asked)
	require.Len(t, kept.ended, 6)
	require.Len(t, kept.planned, 6)
	require.Equal(t, planv1.PlanDecision_PLAN_DECISION_DENY, kept.planned[0].GetDecision())
	require.Equal(t, "the folders of the test", kept.planned[0].GetDecidedBy())

	require.Equal(t, Completed, write(filepath.Join(in, "a"), "x").Status, "what is within is asked about as ever")
	require.Equal(t, 1, asked)
	within.Folders = nil
	require.Contains(t, write(filepath.Join(in, "a"), "free").Error.GetMessage(), "nothing is within the folders of the test")
}

// Arguments that are changed at the question stay within, too.
func TestFenceOfARevisedCall(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	var problem string
	s := open(t, Options{}, SessionOptions{Approver: gate.ApproverFunc(func(ctx context.Context, questions []gate.Question) ([]gate.Answer, error) {
		args, err := structpb.NewStruct(map[string]any{"path": filepath.Join(out, "b"), "content": ""})
		if err != nil {
			return nil, err
		}
		q := questions[0].Revise(ctx, args)
		problem = q.Problem
		return []gate.Answer{{Approved: true, By: "person", Revised: &q}}, nil
	})})
	r := request(t, s, "write", map[string]any{"path": filepath.Join(in, "a"), "content": "x"})
	r.Within = &policy.Fence{Name: "the folders of the test", Folders: []string{in}, Remedy: "stay there"}
	require.Equal(t, Completed, s.Invoke(t.Context(), r, nil).Status)
	require.Contains(t, problem, "outside the folders of the test")
	require.FileExists(t, filepath.Join(in, "a"))
	require.NoFileExists(t, filepath.Join(out, "b"))
}
