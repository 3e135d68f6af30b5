package text

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is taken whole is what a scan finds; what is not is left to one.
func TestWhole(t *testing.T) {
	refused := errors.New("refused")
	all := Window{First: 1, Count: 3, MaxBytes: 20, Whole: true}
	for _, tt := range []struct {
		name, body string
		change     func(w *Window)
		taken      bool
	}{
		{"lines", "a\nb\n", nil, true},
		{"a last line without its end", "a\nb", nil, true},
		{"as many lines as are wanted", "a\nb\nc\n", nil, true},
		{"as many bytes as are wanted", "nineteen and twenty\n", nil, true},
		{"several bytes a character", "日本\nä\n", nil, true},
		{"CR alone", "a\rb\n", nil, true},
		{"control characters", "\x1b[1m\tb\x7f\n", nil, true},
		{"a line end alone", "\n", nil, true},
		{"nothing", "", nil, false},
		{"CR LF", "a\r\nb\n", nil, false},
		{"a mark", "\xef\xbb\xbfa\n", nil, false},
		{"a wide one", "\xff\xfea\x00\n\x00", nil, false},
		{"a stray byte", "a\x99\n", nil, false},
		{"NUL", "a\x00b\n", nil, false},
		{"more lines than are wanted", "a\nb\nc\nd", nil, false},
		{"more bytes than are wanted", "twenty, and one more\n", nil, false},
		{"from further down", "a\nb\n", func(w *Window) { w.First = 2 }, false},
		{"not accepted", "a\n", func(w *Window) { w.Accept = func([]byte) error { return refused } }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := all
			if tt.change != nil {
				tt.change(&w)
			}
			got, ok := Whole([]byte(tt.body), w)
			require.Equal(t, tt.taken, ok)
			if ok {
				want, err := Scan(t.Context(), bytes.NewReader([]byte(tt.body)), w)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		})
	}
}
