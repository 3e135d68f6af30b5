package gate

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/policy"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

var (
	write = Call{ID: "1", Provider: "fs", Operation: "write", Category: commonv1.Category_CATEGORY_TOOL, Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE,
		Risk: toolv1.RiskClass_RISK_CLASS_MODERATE, Description: "Write a file.",
		Arguments: &structpb.Struct{Fields: map[string]*structpb.Value{"path": structpb.NewStringValue("a<b")}}}
	read    = Call{ID: "2", Provider: "fs", Operation: "read", Category: commonv1.Category_CATEGORY_TOOL, Kind: toolv1.ToolKind_TOOL_KIND_DATA_SOURCE}
	release = Call{ID: "3", Provider: "rt", Operation: "release", Category: commonv1.Category_CATEGORY_SLASHCOMMAND, Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE}
)

func TestAskFailsClosed(t *testing.T) {
	tests := []struct {
		name     string
		approver Approver
		want     string
	}{
		{"nobody", nil, "nobody to give it. Approve it with --yes"},
		{"an error", ApproverFunc(func(context.Context, []Question) ([]Answer, error) {
			return []Answer{{Approved: true}}, errors.New("no terminal")
		}), "no terminal. Approve it with --yes"},
		{"too few answers", ApproverFunc(func(context.Context, []Question) ([]Answer, error) { return nil, nil }), "0 answers came for 1 questions"},
		{"too many answers", ApproverFunc(func(context.Context, []Question) ([]Answer, error) {
			return []Answer{{Approved: true}, {Approved: true}}, nil
		}), "2 answers came for 1 questions"},
		{"a panic", ApproverFunc(func(context.Context, []Question) ([]Answer, error) { panic("ouch") }), "panic: ouch"},
		{"no", ApproverFunc(func(context.Context, []Question) ([]Answer, error) { return []Answer{{By: "person"}}, nil }), "it was not approved"},
		{"no, with a reason", ApproverFunc(func(context.Context, []Question) ([]Answer, error) {
			return []Answer{{By: "person", Reason: "not today"}}, nil
		}), "fs.write was not run: not today"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := &Gate{Approver: test.approver}
			v := g.Review([]Call{write}).Ask(t.Context())[0]
			require.False(t, v.Allowed)
			require.Contains(t, v.Reason, test.want)
			require.NotEmpty(t, v.By)
			require.Equal(t, planv1.PlanDecision_PLAN_DECISION_DENY, v.Item.GetDecision())
		})
	}
}

func TestRemedyNamesThePolicy(t *testing.T) {
	v := (&Gate{}).Review([]Call{release}).Ask(t.Context())[0]
	require.Contains(t, v.Reason, "/release was not run")
	at := strings.Index(v.Reason, "\npolicy")
	require.Positive(t, at)
	path := filepath.Join(t.TempDir(), "agent.hcl")
	required := "required_providers {\n  rt = { source = \"example.org/o/r\" }\n}"
	require.NoError(t, os.WriteFile(path, []byte(required+v.Reason[at:]), 0o600))
	project, err := config.Load(path, "agent.hcl", config.Scope{})
	require.NoError(t, err, "what is recommended must be right as it stands")
	require.Empty(t, project.Warnings)
	rules, err := policy.New(project.Policies)
	require.NoError(t, err)
	p := (&Gate{Policy: rules}).Review([]Call{release, write})
	verdict, decided := p.Decided(0)
	require.True(t, decided)
	require.True(t, verdict.Allowed)
	require.Equal(t, 1, p.Open(), "and allow that call only")
}

// What is recommended for a shell is about the command, never about every call of it.
func TestRemedyForAShell(t *testing.T) {
	run := func(command string) Call {
		return Call{ID: "4", Provider: "sh", Operation: "bash", Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE,
			Arguments: &structpb.Struct{Fields: map[string]*structpb.Value{"command": structpb.NewStringValue(command)}}}
	}
	v := (&Gate{}).Review([]Call{run("go test > x")}).Ask(t.Context())[0]
	require.Contains(t, v.Reason, "no policy can tell this command from others")
	require.NotContains(t, v.Reason, "\npolicy")

	call := run(`go test ./... && echo '${a}' "%{b}"`)
	v = (&Gate{}).Review([]Call{call}).Ask(t.Context())[0]
	at := strings.Index(v.Reason, "\npolicy")
	require.Positive(t, at, v.Reason)
	path := filepath.Join(t.TempDir(), "agent.hcl")
	require.NoError(t, os.WriteFile(path, []byte("required_providers {\n  sh = { source = \"example.org/o/r\" }\n}"+v.Reason[at:]), 0o600))
	project, err := config.Load(path, "agent.hcl", config.Scope{})
	require.NoError(t, err)
	rules, err := policy.New(project.Policies)
	require.NoError(t, err)
	require.Equal(t, 1, (&Gate{Policy: rules}).Review([]Call{call, run("go vet")}).Open(), "and allow that call only")
}

func TestApprovalAfterTheTurnWasStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := &Gate{Approver: ApproverFunc(func(_ context.Context, items []Question) ([]Answer, error) {
		cancel()
		return make([]Answer, len(items)), nil
	})}
	require.Contains(t, g.Review([]Call{write}).Ask(ctx)[0].Reason, "stopped before there was one")
}

func TestOneQuestionForAllThatIsOpen(t *testing.T) {
	rules, err := policy.New([]policy.Rule{{Name: "no-moving", Match: policy.Match{ToolName: "move"}, Action: policy.Deny}})
	require.NoError(t, err)
	move := write
	move.Operation = "move"
	asked := 0
	g := &Gate{
		Policy: rules,
		Approver: ApproverFunc(func(_ context.Context, items []Question) ([]Answer, error) {
			asked++
			require.Len(t, items, 2)
			require.Equal(t, "would write", items[0].GetPreview().GetRoot().GetText().GetContent())
			require.Equal(t, "Write a file.", items[0].GetDescription())
			require.Equal(t, planv1.PlanDecision_PLAN_DECISION_ASK, items[0].GetDecision())
			return []Answer{{Approved: true, By: "person"}, {By: "person"}}, nil
		}),
		Preview: func(context.Context, Call) (*renderv1.RenderTree, error) {
			return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{Text: &renderv1.TextNode{Content: "would write"}}}}, nil
		},
	}
	p := g.Review([]Call{read, write, move, release})
	require.Equal(t, 2, p.Open())
	v, decided := p.Decided(0)
	require.True(t, decided)
	require.True(t, v.Allowed)
	_, decided = p.Decided(1)
	require.False(t, decided)
	v, decided = p.Decided(2)
	require.True(t, decided)
	require.Contains(t, v.Reason, `fs.move was not run: policy "no-moving" denies it`)
	verdicts := p.Ask(t.Context())
	require.Equal(t, 1, asked)
	require.True(t, verdicts[1].Allowed)
	require.Equal(t, "person", verdicts[1].By)
	require.False(t, verdicts[3].Allowed)
}

func TestApproveAll(t *testing.T) {
	g := &Gate{Approver: ApproveAll("--yes"), Preview: func(context.Context, Call) (*renderv1.RenderTree, error) {
		require.Fail(t, "nobody looks at it")
		return nil, nil
	}}
	v := g.Review([]Call{write}).Ask(t.Context())[0]
	require.True(t, v.Allowed)
	require.Equal(t, "--yes", v.By)
	require.Equal(t, planv1.PlanDecision_PLAN_DECISION_ALLOW, v.Item.GetDecision())
	require.Nil(t, v.Item.GetPreview())
}

func TestFailingPreviewFallsBack(t *testing.T) {
	g := &Gate{Preview: func(context.Context, Call) (*renderv1.RenderTree, error) { return nil, errors.New("no idea") }}
	shown := g.Review([]Call{write}).Ask(t.Context())[0].Item.GetPreview().GetRoot().GetGroup().GetChildren()
	require.Len(t, shown, 2)
	require.Equal(t, "no preview: no idea", shown[0].GetText().GetContent())
	require.Equal(t, "{\n  \"path\": \"a<b\"\n}", shown[1].GetCodeBlock().GetContent())
}

func TestRefusedPreviewAsksNothing(t *testing.T) {
	refusal := &toolv1.ToolError{Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, Message: "there is no a<b"}
	g := &Gate{
		Approver: ApproverFunc(func(_ context.Context, items []Question) ([]Answer, error) {
			require.Len(t, items, 1)
			return []Answer{{Approved: true, By: "person"}}, nil
		}),
		Preview: func(_ context.Context, c Call) (*renderv1.RenderTree, error) {
			if c.Operation == "write" {
				return nil, &RefusalError{Reason: refusal}
			}
			return Pretty(c.Arguments), nil
		},
	}
	verdicts := g.Review([]Call{write, release}).Ask(t.Context())
	require.False(t, verdicts[0].Allowed)
	require.Same(t, refusal, verdicts[0].Refusal)
	require.True(t, verdicts[1].Allowed, "the others are not held up")
	require.Nil(t, verdicts[1].Refusal)
}

func TestPrettyOfWhatJSONCannotSay(t *testing.T) {
	tree := Pretty(&structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(math.Inf(1))}})
	require.NotEmpty(t, tree.GetRoot().GetCodeBlock().GetContent())
	require.Equal(t, "{}", Pretty(nil).GetRoot().GetCodeBlock().GetContent())
}
