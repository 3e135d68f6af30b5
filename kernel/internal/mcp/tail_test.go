package mcp

import (
	"strings"
	"testing"

	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/stretchr/testify/require"
)

func TestTail(t *testing.T) {
	for _, test := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"nothing", nil, ""},
		{"all of it", []string{"a\n", "b"}, "a\nb"},
		{"the last chunks", []string{"12345\n", "67890\n", "abcd\n"}, "67890\nabcd\n"},
		{"from a line on", []string{strings.Repeat("x", 20) + "\n\x1b[31mred\n", "b\n"}, "red\nb\n"},
		{"the end of one line", []string{strings.Repeat("x", 20) + "\n"}, strings.Repeat("x", 11) + "\n"},
		{"not from the middle of a character", []string{strings.Repeat("é", 20) + "a"}, strings.Repeat("é", 5) + "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := tail{most: 12}
			for _, chunk := range test.chunks {
				kept.write(printed(chunk).GetOutputChunk())
			}
			var o paint.Output
			require.Equal(t, test.want, kept.paint(&o))
			require.LessOrEqual(t, len(kept.chunks), max(1, len(test.chunks)))
		})
	}
}
