package policy

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// FuzzDecide: whatever the patterns and the arguments, a decision is one, is the same each time and says who made it;
// a rule about everything that denies is never talked out of it by less than an allow that is certain.
func FuzzDecide(f *testing.F) {
	f.Add("go test *", "docs/**", "go test ./... && git push", "docs/../secret", int32(1), byte(0))
	f.Add("git push *", "**", "echo $(git push)", "/etc/x", int32(2), byte(7))
	f.Add("'a b' *", "{a,b}/*", "'a b' c > d", "A/é", int32(3), byte(3))
	f.Add("x", "[a-z]", "x\x00", "\xff", int32(0), byte(5))
	f.Fuzz(func(t *testing.T, command, glob, script, path string, kind int32, actions byte) {
		action := func(n int) Action { return Allow + Action(actions>>(2*n))%3 }
		rules := []Rule{
			{Name: "command", Match: Match{Command: []string{command}}, Action: action(0)},
			{Name: "path", Match: Match{Arguments: map[string]string{"path": glob}}, Action: action(1)},
			{Name: "all", Action: action(2)},
		}
		set, err := New(rules)
		if err != nil {
			return
		}
		call := Call{
			Provider: "p", Operation: "op", Kind: toolv1.ToolKind(kind % 4), Place: Place{Root: "/project", Dir: "/project/sub"},
			Arguments: &structpb.Struct{Fields: map[string]*structpb.Value{
				"command": structpb.NewStringValue(script), "path": structpb.NewStringValue(path)}},
		}
		d, judged := set.Explain(call)
		require.Contains(t, []Action{Allow, Ask, Deny}, d.Action)
		require.NotEmpty(t, d.By)
		require.Equal(t, d, set.Decide(call))
		require.Len(t, judged, len(rules))
		won := slices.DeleteFunc(slices.Clone(judged), func(j Judged) bool { return !j.Won })
		require.Len(t, won, 1, "the rule about everything matches at least")
		require.Equal(t, won[0].Rule, *d.Rule)
		for _, j := range judged {
			require.True(t, j.Won || j.Why != "", "every rule that lost is told why")
		}
		if d.Action == Allow {
			require.Equal(t, Allow, won[0].Rule.Action)
			alone, err := New([]Rule{won[0].Rule})
			require.NoError(t, err)
			require.Equal(t, Allow, alone.Decide(call).Action, "an allow is certain by itself")
		}
	})
}
