package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestKey(t *testing.T) {
	commands := func(texts ...string) Match { return Match{Command: texts} }
	arguments := func(name, glob string) Match { return Match{Arguments: map[string]string{name: glob}} }
	tests := []struct {
		name string
		a, b Match
		want bool
	}{
		{"nothing", Match{}, Match{}, true},
		{"no commands", Match{}, commands(), true},
		{"another order, one twice", commands("a", "b", "a"), commands("b", "a"), true},
		{"blanks and quotes", commands("go  test *"), commands("'go' test *"), true},
		{"further words", commands("go test *"), commands("go test"), false},
		{"a star that is text", commands("ls \\*"), commands("ls *"), false},
		{"a quoted blank", commands("'a b'"), commands("a b"), false},
		{"a path", arguments("path", "docs/**"), arguments("path", "./docs//**"), true},
		{"text", arguments("content", "docs/**"), arguments("content", "./docs/**"), false},
		{"another argument", arguments("path", "x"), arguments("source", "x"), false},
		{"another risk", Match{Risk: toolv1.RiskClass_RISK_CLASS_LOW}, Match{}, false},
		{"another kind", Match{Kind: toolv1.ToolKind_TOOL_KIND_RESOURCE}, Match{}, false},
		{"a tool of the name of a provider", Match{ToolName: "x"}, Match{Provider: "x"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, test.a.Equal(test.b))
			require.Equal(t, test.want, test.b.Equal(test.a))
		})
	}
}
