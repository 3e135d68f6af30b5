package mcp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What a question shows holds both sides of a change, however long the preview is.
func TestLongPreviewKeepsBothSides(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, test := range []struct {
		name, shown string
		want        []string
	}{
		{"whole", "edit f\n-old\n+new\n", []string{"│ edit f\n│ -old\n│ +new"}},
		{"a long line between", "edit f\n " + long + "\n-old\n+new\n", []string{"│ edit f\n│  é", "é…[19", " bytes]…é", "\n│ -old\n│ +new"}},
		{"many lines", "edit f\n" + strings.Repeat("-old\n", 20_000) + strings.Repeat("+new\n", 20_000), []string{
			"│ edit f\n│ -old\n", "\n(37", " of 40001 lines of the preview, ", "│ +new\n│ +new",
		}},
		{"long lines that differ inside", "-" + long + "old" + long + "\n+" + long + "new" + long, []string{"éoldé", "énewé"}},
		{"two long lines", "-" + long + "old\n+" + long + "new\n", []string{"│ -é", "éold\n│ +é", "énew"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := behindBars(test.shown)
			for _, want := range test.want {
				require.Contains(t, got, want)
			}
			require.LessOrEqual(t, len(got), longestPreview+200)
			require.True(t, utf8.ValidString(got))
		})
	}
}
