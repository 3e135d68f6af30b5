package mcp

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// wellNamed is what all clients take: the strictest want a letter first and at most 64 characters, a prefix of their own
// counted in.
var wellNamed = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,39}$`)

func op(provider, name string) engine.Operation {
	return engine.Operation{Provider: provider, Name: name}
}

// M02, and M10: a name is that of its operation alone, whatever else there is and in whichever order.
func TestNames(t *testing.T) {
	tests := []struct {
		name string
		op   engine.Operation
		want string
	}{
		{"plain", op("filesystem", "read_file"), "filesystem_read_file"},
		{"with a dash", op("release-tools", "next-version"), "release-tools_next-version"},
		{"what clients refuse", op("git-hub.tools", "repos/list all"), "git-hub-tools_repos-list-all_1028e20f"},
		{"long", op("provider", strings.Repeat("x", 80)), "provider_" + strings.Repeat("x", 22) + "_e081b214"},
		{"a provider with _", op("a_b", "c"), "a_b_c_0c1d18f5"},
		{"the one it could be taken for", op("a", "b_c"), "a_b_c"},
		{"not a letter first", op("1password", "get"), "x1password_get_8b1e5eb5"},
	}
	var all []engine.Operation
	for _, test := range tests {
		all = append(all, test.op)
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	require.Equal(t, names(all), names(backwards))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, map[string]engine.Operation{test.want: test.op}, names([]engine.Operation{test.op}))
			require.Equal(t, test.op, names(all)[test.want])
		})
	}
}

// Even one who names a tool as another is hashed cannot take its place.
func TestNamesThatClash(t *testing.T) {
	odd := op("a_b", "c")
	forged := op("a", strings.TrimPrefix(nameOf(odd), "a_"))
	require.Equal(t, nameOf(odd), nameOf(forged))
	both := names([]engine.Operation{odd, forged})
	require.Equal(t, both, names([]engine.Operation{forged, odd}))
	require.Len(t, both, 2)
	for name := range both {
		require.Regexp(t, wellNamed, name)
	}
}

func TestNamesNeverCollide(t *testing.T) {
	part := rapid.OneOf(rapid.StringMatching(`[a-c_]{0,3}`), rapid.StringMatching(`[a-zA-Z_.-]{1,60}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) engine.Operation {
			return op(part.Draw(t, "provider"), part.Draw(t, "name"))
		}), 0, 30, func(o engine.Operation) string { return o.Provider + "\x00" + o.Name }).Draw(t, "operations")
		named := names(ops)
		require.Len(t, named, len(ops))
		for name := range named {
			require.Regexp(t, wellNamed, name)
		}
		commands := commandNames(ops)
		require.Len(t, commands, len(ops))
		for name := range commands {
			require.Regexp(t, wellNamed, name)
		}
	})
}

// M10: two providers with a command of the same name are both reached.
func TestCommandNames(t *testing.T) {
	ops := []engine.Operation{op("a", "changelog"), op("b", "changelog"), op("b", "tidy")}
	require.Equal(t, map[string]engine.Operation{"a_changelog": ops[0], "b_changelog": ops[1], "tidy": ops[2]}, commandNames(ops))
}
