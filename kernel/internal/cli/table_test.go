package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/paint"
)

// In a narrow window a table is a list, cut between words.
func TestStacked(t *testing.T) {
	rows := [][]string{
		{"command", "string", "required", "Shell command or script. It may have many lines."},
		{"cwd", "string", "", ""},
	}
	require.Equal(t, strings.Join([]string{
		"command",
		"  string, required",
		"  Shell command or",
		"  script. It may have",
		"  many lines.",
		"cwd",
		"  string",
	}, "\n")+"\n", stacked(rows, paint.Painter{Width: 22}))
}

func TestProse(t *testing.T) {
	text := "One line that is too long.\n\n  and one that is indented\n"
	require.Equal(t, "One line that\nis too long.\n\n  and one that\n  is indented\n", prose(text, "", nil, paint.Painter{Width: 15}))
	require.Equal(t, text, prose(text, "", nil, paint.Painter{}))
}
