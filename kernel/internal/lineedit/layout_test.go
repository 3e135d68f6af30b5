package lineedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLay(t *testing.T) {
	tests := []struct {
		name    string
		text    string // with | for the cursor
		columns int
		want    []string
		cursor  place
	}{
		{"empty", "|", 10, []string{"> "}, place{0, 2}},
		{"short", "ab|c", 10, []string{"> abc"}, place{0, 4}},
		{"a full row leaves the cursor on the next", "abcdefgh|", 10, []string{"> abcdefgh", ""}, place{1, 0}},
		{"a full row with the cursor within", "abc|defgh", 10, []string{"> abcdefgh"}, place{0, 5}},
		{"two rows", "abcdefghij|", 10, []string{"> abcdefgh", "ij"}, place{1, 2}},
		{"the cursor at a wrapped character", "abcdefgh|ij", 10, []string{"> abcdefgh", "ij"}, place{1, 0}},
		{"wide characters", "日本|語", 10, []string{"> 日本語"}, place{0, 6}},
		{"a wide character is not cut", "日本語x日|本", 10, []string{"> 日本語x", "日本"}, place{1, 2}},
		{"combining marks take no room", "e\u0301e\u0301|x", 10, []string{"> e\u0301e\u0301x"}, place{0, 4}},
		{"rows of the text", "ab\ncd|", 10, []string{"> ab", "> cd"}, place{1, 4}},
		{"an empty row", "ab\n|", 10, []string{"> ab", "> "}, place{1, 2}},
		{"controls are shown", "a\x1b[2J\tb|", 20, []string{"> a␛[2J␉b"}, place{0, 9}},
		{"what turns the reading direction is shown", "a\u202eb|", 20, []string{"> a<U+202E>b"}, place{0, 12}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, behind, _ := strings.Cut(tt.text, "|")
			l := lay(row{"> ", 2}, buffer{before + behind, len(before)}, tt.columns)
			var got []string
			for _, r := range l.rows {
				got = append(got, r.text)
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.cursor, l.cursor)
		})
	}
}

func TestWindow(t *testing.T) {
	l := lay(row{}, buffer{strings.Repeat("x\n", 20), 20}, 10)
	l.window(5)
	require.Len(t, l.rows, 5)
	require.Equal(t, place{2, 2}, l.cursor)
	l = lay(row{}, buffer{strings.Repeat("x\n", 20), 0}, 10)
	l.window(5)
	require.Equal(t, place{0, 0}, l.cursor)
}

func TestMenuList(t *testing.T) {
	m := newMenu(Completions{Choices: []Choice{
		{Text: "read ", Description: "Read a file from start to end"}, {Text: "'my files/", Label: "my files/", Description: "x"}, {Text: "three"}, {Text: "four"},
	}}, buffer{})
	m.selected = 1
	require.Equal(t, []string{"  read       Read a file from star…", "› my files/  x", "  three", "  four"}, m.list(36, 10, false))
	require.Equal(t, []string{"  read", "› my files/", "  three", "  four"}, m.list(20, 10, false), "no room for descriptions")
	require.Equal(t, []string{"  read", "› my files/", "  … 4 in all"}, m.list(20, 3, false))
	require.Equal(t, []string{"  re…", "› my…"}, m.list(6, 4, false)[:2])
	require.Nil(t, m.list(20, 1, false))
}
