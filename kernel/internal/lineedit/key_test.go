package lineedit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name, typed string
		want        key
		n           int
	}{
		{"nothing", "", key{}, 0},
		{"a run of characters", "añ日\x01", key{insert, "añ日"}, 6},
		{"a character that is not all there", "\xe6\x97", key{}, 0},
		{"characters before one that is not all there", "ab\xe6", key{insert, "ab"}, 2},
		{"what is not UTF-8", "a\xffb", key{insert, "a\uFFFDb"}, 3},
		{"control", "\x05x", key{command: end}, 1},
		{"control that does nothing", "\x1c", key{}, 1},
		{"arrow", "\x1b[Ax", key{command: previous}, 3},
		{"arrow of an application keypad", "\x1bOD", key{command: left}, 3},
		{"arrow in pieces", "\x1b[1;5", key{}, 0},
		{"word by word", "\x1b[1;5D", key{command: wordLeft}, 6},
		{"delete", "\x1b[3~", key{command: deleteNext}, 4},
		{"a sequence that is not known", "\x1b[24;7~x", key{}, 7},
		{"an answer nobody asked for", "\x1b[12;40Rx", key{}, 8},
		{"alt", "\x1bf", key{command: wordRight}, 2},
		{"alt of a wide character", "\x1b日", key{}, 4},
		{"escape may begin more", "\x1b", key{}, 0},
		{"escape before another", "\x1b\x1b[A", key{}, 1},
		{"paste", "\x1b[200~a\r\nb\rc\td\n\x1b[201~x", key{paste, "a\nb\nc\td"}, len("\x1b[200~a\r\nb\rc\td\n\x1b[201~")},
		{"paste that is not all there", "\x1b[200~a\x1b[201", key{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, n := decode([]byte(tt.typed), false)
			require.Equal(t, tt.n, n)
			require.Equal(t, tt.want, k)
		})
	}
	for name, tt := range map[string]struct {
		typed string
		want  key
	}{
		"escape": {"\x1b", key{command: escape}}, "half a sequence": {"\x1b[1;", key{}}, "half a character": {"\xe6\x97", key{insert, "\uFFFD"}},
	} {
		t.Run("late "+name, func(t *testing.T) {
			k, n := decode([]byte(tt.typed), true)
			require.Equal(t, len(tt.typed), n)
			require.Equal(t, tt.want, k)
		})
	}
}
