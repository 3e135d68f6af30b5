package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWanted(t *testing.T) {
	for _, test := range []struct {
		name              string
		args              []string
		has, hasNot       []string
		modules, hugeFile bool
	}{
		{"all", nil, []string{"@openai/codex@0.171.0", "fast-filesystem-mcp@3.5.2"}, nil, true, true},
		{"a quick run", []string{"-scale", "0.1"}, []string{"fast-filesystem-mcp@3.5.2"}, []string{"@openai/codex@0.171.0"}, false, false},
		{"what is named", []string{"-scale", "0.1", "-peers", "codex-app,codex-exec", "-ops", "print1024mb"},
			[]string{"@openai/codex@0.171.0"}, []string{"fast-filesystem-mcp@3.5.2"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, err := read(append([]string{"-dir", t.TempDir()}, test.args...))
			require.NoError(t, err)
			require.NoError(t, o.suite.Check())
			w := o.wanted()
			require.Subset(t, w.Packages, test.has)
			for _, spec := range test.hasNot {
				require.NotContains(t, w.Packages, spec)
			}
			seen := map[string]bool{}
			for _, spec := range w.Packages {
				require.False(t, seen[spec], "%s comes twice", spec)
				seen[spec] = true
			}
			require.Equal(t, test.modules, len(w.Modules) > 0)
			require.Equal(t, test.hugeFile, w.Inputs.Huge)
		})
	}
}
