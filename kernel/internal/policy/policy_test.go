package policy

import (
	"testing"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	resource    = toolv1.ToolKind_TOOL_KIND_RESOURCE
	dataSource  = toolv1.ToolKind_TOOL_KIND_DATA_SOURCE
	interactive = toolv1.ToolKind_TOOL_KIND_INTERACTIVE
	high        = toolv1.RiskClass_RISK_CLASS_HIGH
)

var bash = Call{Provider: "bash", Operation: "bash", Kind: resource, Risk: high}

func TestDecide(t *testing.T) {
	tests := []struct {
		name  string
		rules []Rule
		call  Call
		want  Action
		by    string
	}{
		{"no rule, changes", nil, bash, Ask, "default"},
		{"no rule, reads", nil, Call{Kind: dataSource}, Allow, "default"},
		{"no rule, asks a person", nil, Call{Kind: interactive}, Allow, "default"},
		{"no rule, unknown kind", nil, Call{}, Ask, "default"},
		{"another provider", []Rule{{Name: "a", Match: Match{Provider: "fs"}, Action: Allow}}, bash, Ask, "default"},
		{"empty match", []Rule{{Name: "a", Action: Deny}}, bash, Deny, `policy "a"`},
		{"tool over all the rest", []Rule{
			{Name: "rest", Match: Match{Provider: "bash", Risk: high, Kind: resource}, Action: Allow},
			{Name: "tool", Match: Match{ToolName: "bash"}, Action: Deny}}, bash, Deny, `policy "tool"`},
		{"provider over risk and kind", []Rule{
			{Name: "provider", Match: Match{Provider: "bash"}, Action: Allow},
			{Name: "rest", Match: Match{Risk: high, Kind: resource}, Action: Deny}}, bash, Allow, `policy "provider"`},
		{"risk over kind", []Rule{
			{Name: "kind", Match: Match{Kind: resource}, Action: Allow},
			{Name: "risk", Match: Match{Risk: high}, Action: Deny}}, bash, Deny, `policy "risk"`},
		{"more of the same", []Rule{
			{Name: "tool", Match: Match{ToolName: "bash"}, Action: Deny},
			{Name: "both", Match: Match{ToolName: "bash", Kind: resource}, Action: Allow}}, bash, Allow, `policy "both"`},
		{"ask about reading", []Rule{{Name: "a", Match: Match{Kind: dataSource}, Action: Ask}}, Call{Kind: dataSource}, Deny, `policy "a"`},
		{"ask about asking", []Rule{{Name: "a", Action: Ask}}, Call{Kind: interactive}, Deny, `policy "a"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(test.rules)
			require.NoError(t, err)
			d := s.Decide(test.call)
			require.Equal(t, test.want, d.Action)
			require.Contains(t, d.By, test.by)
		})
	}
}

func TestAskAboutReadingWarns(t *testing.T) {
	s, err := New([]Rule{{Name: "a", Source: "agent.hcl:3", Match: Match{Kind: dataSource}, Action: Ask}})
	require.NoError(t, err)
	require.Contains(t, s.Decide(Call{Provider: "fs", Operation: "stat", Kind: dataSource}).Warning, `policy "a" (agent.hcl:3) says ask about fs.stat`)
	require.Empty(t, s.Decide(bash).Warning)
}

func TestConflicts(t *testing.T) {
	tests := []struct {
		name  string
		rules []Rule
		want  []string
	}{
		{"the same, agreeing", []Rule{{Name: "a", Action: Deny}, {Name: "b", Action: Deny}}, nil},
		{"the same, contradicting", []Rule{
			{Name: "a", Source: "agent.hcl:1", Match: Match{ToolName: "x"}, Action: Allow},
			{Name: "b", Source: "agent.hcl:9", Match: Match{ToolName: "x"}, Action: Deny}},
			[]string{`policy "a" (agent.hcl:1) says allow and policy "b" (agent.hcl:9) says deny`}},
		{"equal tuple, other values", []Rule{
			{Name: "a", Match: Match{ToolName: "x"}, Action: Allow}, {Name: "b", Match: Match{ToolName: "y"}, Action: Deny}}, nil},
		{"every conflict", []Rule{{Name: "a", Action: Allow}, {Name: "b", Action: Deny}, {Name: "c", Action: Ask}},
			[]string{`policy "a" says allow and policy "b"`, `policy "a" says allow and policy "c"`, `policy "b" says deny and policy "c"`}},
		{"no action", []Rule{{Name: "a"}}, []string{`policy "a" has no action`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(test.rules)
			if test.want == nil {
				require.NoError(t, err)
				return
			}
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	s, err := New([]Rule{
		{Name: "a", Action: Deny}, {Name: "b", Match: Match{Provider: "fs"}, Action: Allow}, {Name: "c", Match: Match{Command: []string{"*"}}, Action: Ask},
		{Name: "d", Match: Match{Kind: dataSource}, Action: Ask}, {Name: "e", Match: Match{Kind: dataSource, Provider: "fs"}, Action: Deny},
		{Name: "f", Match: Match{Kind: resource}, Action: Ask},
	})
	require.NoError(t, err)
	require.Equal(t, []Warning{
		{"matches everything", `policy "a" has an empty match: it says deny to every call no other policy matches`},
		{"matches everything", `policy "c" matches every command: it says ask to whatever a shell is asked to run`},
		{"can only deny", `policy "d" asks about what only reads, which has no plan to approve: such a call is denied; say allow or deny`},
	}, s.Warnings())
}

func TestParseAction(t *testing.T) {
	for _, want := range []Action{Allow, Ask, Deny} {
		got, err := ParseAction(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := ParseAction("permit")
	require.ErrorContains(t, err, "use allow, ask or deny")
}

// K28: deny beats what is as specific, and doubt never widens.
func TestDecideByPatterns(t *testing.T) {
	allow := func(commands ...string) Rule {
		return Rule{Name: "allow", Match: Match{Command: commands}, Action: Allow}
	}
	deny := Rule{Name: "deny", Match: Match{Command: []string{"git push *"}}, Action: Deny}
	ask := Rule{Name: "ask", Match: Match{Command: []string{"git push *"}}, Action: Ask}
	shell := Rule{Name: "shell", Match: Match{Provider: "bash", ToolName: "bash"}, Action: Allow}
	noShell := Rule{Name: "no shell", Match: Match{Provider: "bash", ToolName: "bash"}, Action: Deny}
	tests := []struct {
		name  string
		rules []Rule
		args  map[string]any
		want  Action
		by    string
	}{
		{"command over tool", []Rule{noShell, allow("go test *")}, map[string]any{"command": "go test"}, Allow, "allow"},
		{"command over arguments", []Rule{{Name: "cwd", Match: Match{Arguments: map[string]string{"cwd": "x"}, ToolName: "bash"}, Action: Deny}, allow("go test *")},
			map[string]any{"command": "go test", "cwd": "x"}, Allow, "allow"},
		{"arguments over tool", []Rule{noShell, {Name: "cwd", Match: Match{Arguments: map[string]string{"cwd": "x"}}, Action: Allow}},
			map[string]any{"command": "go test", "cwd": "x"}, Allow, "cwd"},
		{"not certain", []Rule{allow("go test *")}, map[string]any{"command": "go test > x"}, Ask, "default"},
		{"as specific, stricter", []Rule{allow("git *"), deny}, map[string]any{"command": "git push"}, Deny, "deny"},
		{"as specific, stricter, other order", []Rule{deny, allow("git *")}, map[string]any{"command": "git push"}, Deny, "deny"},
		{"as specific, ask", []Rule{allow("git *"), ask}, map[string]any{"command": "git push"}, Ask, "ask"},
		{"one of two commands", []Rule{shell, deny}, map[string]any{"command": "ls; git push"}, Deny, "deny"},
		{"hidden", []Rule{shell, deny}, map[string]any{"command": "echo $(git push)"}, Deny, "deny"},
		{"hidden, ask", []Rule{shell, ask}, map[string]any{"command": "echo $(git push)"}, Ask, "ask"},
		{"possible, but less specific", []Rule{{Name: "t", Match: Match{Command: []string{"go *"}, ToolName: "bash"}, Action: Allow},
			{Name: "d", Match: Match{Command: []string{"/bin/go"}}, Action: Deny}}, map[string]any{"command": "go x"}, Allow, "t"},
		{"possible ask does not lift a deny", []Rule{noShell, ask}, map[string]any{"command": "rm x; git push"}, Deny, "no shell"},
		{"certain ask lifts a deny", []Rule{noShell, ask}, map[string]any{"command": "git push"}, Ask, "ask"},
		{"all of the patterns of one rule", []Rule{allow("go test *", "git status")}, map[string]any{"command": "go test; git status"}, Allow, "allow"},
		{"patterns of two rules do not add up", []Rule{allow("go test *"), {Name: "b", Match: Match{Command: []string{"git status"}}, Action: Allow}},
			map[string]any{"command": "go test; git status"}, Ask, "default"},
		{"in the background", []Rule{allow("go test *")}, map[string]any{"command": "go test", "background": true}, Ask, "default"},
		{"may be in the background", []Rule{allow("go test *")}, map[string]any{"command": "go test", "on_timeout": "background"}, Ask, "default"},
		{"with input", []Rule{allow("cat")}, map[string]any{"command": "cat", "stdin": "x"}, Ask, "default"},
		{"with variables", []Rule{allow("cat")}, map[string]any{"command": "cat", "env": map[string]any{"LD_PRELOAD": "x"}}, Ask, "default"},
		{"denied with input", []Rule{shell, deny}, map[string]any{"command": "git push", "stdin": "x"}, Deny, "deny"},
		{"no command", []Rule{allow("*"), deny}, map[string]any{"text": "git push"}, Ask, "default"},
		{"command is no text", []Rule{allow("*"), deny}, map[string]any{"command": []any{"git push"}}, Ask, "default"},
		{"both must fit", []Rule{{Name: "a", Match: Match{Command: []string{"make"}, Arguments: map[string]string{"cwd": "build"}}, Action: Allow}},
			map[string]any{"command": "make"}, Ask, "default"},
		{"secret by another way", []Rule{shell, {Name: "s", Match: Match{Arguments: map[string]string{"path": "secret/**"}}, Action: Deny}},
			map[string]any{"path": "docs/../SECRET/x"}, Deny, "s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(test.rules)
			require.NoError(t, err)
			c := bash
			c.Place = Place{Root: "/p", Dir: "/p"}
			c.Arguments, err = structpb.NewStruct(test.args)
			require.NoError(t, err)
			d, judged := s.Explain(c)
			require.Equal(t, test.want, d.Action, judged)
			require.Contains(t, d.By, test.by)
			for _, j := range judged {
				require.Equal(t, j.Won, d.Rule != nil && d.Rule.Name == j.Rule.Name)
				require.True(t, j.Won || j.Why != "", "why %s lost is not said", j.Rule)
			}
		})
	}
}

func TestNewRefusesPatterns(t *testing.T) {
	_, err := New([]Rule{{Name: "a", Match: Match{Command: []string{"a; b"}}, Action: Allow}, {Name: "b", Match: Match{Arguments: map[string]string{"x": "["}}, Action: Deny}})
	require.ErrorContains(t, err, `policy "a": command pattern "a; b"`)
	require.ErrorContains(t, err, `policy "b": glob "["`)
}
