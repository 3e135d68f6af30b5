package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func textTree(text string) *renderv1.RenderTree {
	return &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{Text: &renderv1.TextNode{Content: text}}}}
}

// sample is a plan of two calls, the second after the first.
func sample(t testing.TB) *Plan {
	t.Helper()
	args, err := structpb.NewStruct(map[string]any{"path": "a", "content": "x <y> & ü\n", "n": 0.1, "deep": []any{nil, map[string]any{"b": true}}})
	require.NoError(t, err)
	item := func(id string) Item {
		return Item{&planv1.PlanItem{
			Id: ulid.Make().String(), CallId: id, Provider: "fs", OperationName: "write", Input: args,
			Decision: planv1.PlanDecision_PLAN_DECISION_ASK, DecidedBy: "default", Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE,
			Risk: toolv1.RiskClass_RISK_CLASS_MODERATE, Description: "Write.", Preview: textTree("create a"), ProducerCategory: commonv1.Category_CATEGORY_TOOL,
		}}
	}
	p := &Plan{
		ID: ulid.Make().String(), MadeAt: time.Now().UTC(), Project: "/p", WorkingDir: "/p/sub",
		Source: Source{File: "/p/calls.hcl", Digest: Digest([]byte("calls"))}, Policy: "sha256:1", Config: "sha256:2",
		Providers: []Provider{{"bash", "2.0.0", "cc"}, {"fs", "1.0.0", "aa"}},
		Calls:     []Call{{Name: "one", Item: item("tc_1"), TimeoutMS: 90_000}, {Name: "two", After: []string{"one"}, Item: item("tc_2")}},
	}
	require.NoError(t, p.Seal())
	return p
}

func TestEncodeAndDecode(t *testing.T) {
	p := sample(t)
	text, err := p.Encode()
	require.NoError(t, err)
	require.True(t, Is(text))
	require.Contains(t, string(text), "x <y> & ü", "people can read it")
	back, err := Decode(text)
	require.NoError(t, err)
	require.True(t, proto.Equal(p.Calls[0].Item.PlanItem, back.Calls[0].Item.PlanItem))
	require.Equal(t, 90*time.Second, back.Calls[0].Timeout())
	require.Equal(t, []string{"one"}, back.Calls[1].After)
	require.Empty(t, p.Changes(back))
	again, err := back.Encode()
	require.NoError(t, err)
	require.Equal(t, text, again)
}

// K29: whatever of a saved plan is another than it was, it is not applied.
func TestDecodeRefusesWhatWasAltered(t *testing.T) {
	p := sample(t)
	text, err := p.Encode()
	require.NoError(t, err)
	replaced := func(old, new string) []byte {
		require.Contains(t, string(text), old)
		return []byte(strings.Replace(string(text), old, new, 1))
	}
	resealed := func(change func(*Plan)) []byte { // by somebody who knows how the checksum is made
		forged, err := Decode(text)
		require.NoError(t, err)
		change(forged)
		body, err := canonical(forged)
		require.NoError(t, err)
		out, err := envelope{Format: format, SHA256: Digest(body), Plan: body}.encode()
		require.NoError(t, err)
		return out
	}
	tests := []struct {
		name string
		text []byte
		want string
	}{
		{"an argument", replaced(`"path": "a"`, `"path": "b"`), "its checksum does not fit"},
		{"the checksum", replaced(`"sha256": "sha256:`, `"sha256": "sha256:0`), "its checksum does not fit"},
		{"a space", replaced(`"path": "a"`, `"path":  "a"`), "it was written anew"},
		{"a second name", replaced(`"agent_plan": 1,`, `"agent_plan": 1, "agent_plan": 1,`), "it was written anew"},
		{"cut off", text[:len(text)/2], "it is not JSON"},
		{"twice", append(append([]byte{}, text...), text...), "it is not JSON"},
		{"the newline at the end", text[:len(text)-1], "it was written anew"},
		{"resealed, with another argument", resealed(func(p *Plan) { p.Calls[0].Item.Input.Fields["path"] = structpb.NewStringValue("b") }), `call "one" is not what was approved`},
		{"resealed, for another binary", resealed(func(p *Plan) { p.Providers[1].Checksum = "bb" }), `call "one" is not what was approved`},
		{"resealed, with another order", resealed(func(p *Plan) { p.Calls[1].After = nil }), `call "two" is not what was approved`},
		{"resealed, out of order", resealed(func(p *Plan) { p.Calls[0].After = []string{"two"}; _ = p.Seal() }), `comes after "two", which does not stand before it`},
		{"resealed, with one name twice", resealed(func(p *Plan) { p.Calls[1].Name = "one"; _ = p.Seal() }), `that of another: "one"`},
		{"resealed, without calls", resealed(func(p *Plan) { p.Calls = nil }), "it has no calls"},
		{"resealed, with an id that is a path", resealed(func(p *Plan) { p.ID = "../../x" }), `its id "../../x" is none`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.True(t, Is(tt.text))
			_, err := Decode(tt.text)
			var altered *AlteredError
			require.ErrorAs(t, err, &altered)
			require.Contains(t, err.Error(), tt.want)
			require.Contains(t, err.Error(), "nothing of it is applied")
		})
	}
	t.Run("from a newer agent", func(t *testing.T) {
		_, err := Decode(replaced(`"agent_plan": 1,`, `"agent_plan": 2,`))
		require.ErrorContains(t, err, "reads up to 1: apply it with the agent that made it")
	})
	require.False(t, Is([]byte(`{"calls": [], "agent_plan": 1}`)))
}

// K29: what makes a plan stale is named.
func TestChanges(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Plan)
		want   []Change
	}{
		{"nothing", func(*Plan) {}, nil},
		{"names that mean nothing", func(p *Plan) { p.ID, p.Calls[0].Item.Id, p.Calls[0].Item.CallId = "x", "y", "z" }, nil},
		{"the version of a provider", func(p *Plan) { p.Providers[1].Version = "1.1.0" }, []Change{{"", "provider", "was fs 1.0.0, is 1.1.0"}}},
		{"its binary", func(p *Plan) { p.Providers[1].Checksum = "bb" }, []Change{{"", "provider", "fs 1.0.0 is another binary"}}},
		{"a provider is gone", func(p *Plan) { p.Providers = p.Providers[:1] }, []Change{{"", "provider", "fs is not there any more"}}},
		{"the policies", func(p *Plan) { p.Policy = "sha256:9"; p.Config = "sha256:8" }, []Change{{"", "policy", "the policies of agent.hcl are others"}}},
		{"agent.hcl", func(p *Plan) { p.Config = "sha256:8" }, []Change{{"", "config", "agent.hcl has changed"}}},
		{"the project", func(p *Plan) { p.Project = "/q" }, []Change{{"", "project", "was /p, is /q"}}},
		{"the profile", func(p *Plan) { p.Profile = "ci" }, []Change{{"", "profile", "was none, is ci"}}},
		{"the arguments", func(p *Plan) { p.Calls[1].Item.Input = nil }, []Change{{"two", "arguments", "they are others"}}},
		{"the preview", func(p *Plan) { p.Calls[0].Item.Preview = textTree("overwrite a") }, []Change{{"one", "preview", "it would do something else now"}}},
		{"the decision", func(p *Plan) { p.Calls[0].Item.Decision = planv1.PlanDecision_PLAN_DECISION_DENY }, []Change{{"one", "decision", "the policies decide otherwise"}}},
		{"the declaration", func(p *Plan) { p.Calls[0].Item.Risk = toolv1.RiskClass_RISK_CLASS_HIGH }, []Change{{"one", "operation", "its provider declares it otherwise"}}},
		{"the operation is gone", func(p *Plan) { p.Calls = p.Calls[:1] }, []Change{{"two", "operation", "it is not there any more"}}},
		{"the order", func(p *Plan) { p.Calls[1].After = nil }, []Change{{"two", "operation", "its digest is another"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := sample(t)
			fresh := sample(t)
			fresh.MadeAt = fresh.MadeAt.Add(time.Hour)
			for i := range fresh.Calls {
				fresh.Calls[i].Item.PlanItem = proto.CloneOf(fresh.Calls[i].Item.PlanItem)
			}
			tt.change(fresh)
			require.NoError(t, fresh.Seal())
			require.Equal(t, tt.want, p.Changes(fresh))
		})
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.json")
	require.NoError(t, sample(t).Save(path, false))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	second := sample(t)
	require.NoError(t, second.Save(path, false), "a plan may be replaced by a plan")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	back, err := Decode(text)
	require.NoError(t, err)
	require.Equal(t, second.ID, back.ID)

	calls := filepath.Join(filepath.Dir(path), "calls.hcl")
	require.NoError(t, os.WriteFile(calls, []byte("call"), 0o644))
	require.ErrorContains(t, sample(t).Save(calls, false), "is there already and is no plan")
	require.ErrorContains(t, sample(t).Save(filepath.Join(path, "no", "folder"), false), "cannot save the plan")
	require.ErrorContains(t, sample(t).Save(filepath.Dir(path), true), "is no file")
	require.NoError(t, sample(t).Save(calls, true))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing half-written is left")
}

// Not one byte of a saved plan can be another without the plan being refused, and nothing makes the reader panic.
func FuzzDecode(f *testing.F) {
	p := sample(f) // the same in every process, so that what is found is found again
	p.ID, p.MadeAt = ulid.ULID{}.String(), time.Time{}
	for _, c := range p.Calls {
		c.Item.Id = c.Item.GetCallId()
	}
	text, err := p.Encode()
	require.NoError(f, err)
	f.Add(text, 0, byte(0))
	f.Add(text, 40, byte('x'))
	f.Add(text, len(text)-2, byte(' '))
	f.Add([]byte(`{"agent_plan":1,"sha256":"","plan":{"calls":[{"item":{"input":{}}}]}}`), 3, byte('"'))
	f.Fuzz(func(t *testing.T, src []byte, at int, b byte) {
		if back, err := Decode(src); err == nil { // it is a plan, so it is as Encode writes it
			again, err := back.Encode()
			require.NoError(t, err)
			require.Equal(t, src, again)
		}
		i := int(uint(at) % uint(len(text)))
		if text[i] == b {
			return
		}
		altered := append([]byte{}, text...)
		altered[i] = b
		_, err := Decode(altered)
		require.Error(t, err, "byte %d as %q", i, b)
	})
}
