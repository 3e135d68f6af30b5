package paint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFold(t *testing.T) {
	tests := []struct {
		name, line string
		columns    int
		want       []string
	}{
		{"empty", "", 4, []string{""}},
		{"fits", "abcd", 4, []string{"abcd"}},
		{"does not fit", "abcdefghi", 4, []string{"abcd", "efgh", "i"}},
		{"no width to keep to", "abcdefghi", 0, []string{"abcdefghi"}},
		{"wide characters", "日本語", 5, []string{"日本", "語"}},
		{"marks stay with their letter", "abe\u0301c", 3, []string{"abe\u0301", "c"}},
		{"wider than a row", "日本", 1, []string{"日", "本"}},
		{"styles go on", "a\x1b[31mbcd\x1b[0me", 2, []string{"a\x1b[31mb\x1b[0m", "\x1b[31mcd\x1b[0m", "e"}},
		{"tabs", "a\tb", 5, []string{"a    ", "   b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Fold(tt.line, tt.columns))
		})
	}
}
