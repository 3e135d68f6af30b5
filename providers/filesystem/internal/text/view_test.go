package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestView(t *testing.T) {
	for _, tt := range []struct {
		name, raw, text, encoding, ends string
	}{
		{"empty", "", "", "utf-8", "none"},
		{"plain", "a\nb\n", "a\nb\n", "utf-8", "lf"},
		{"CR LF", "a\r\nb\r\n", "a\nb\n", "utf-8", "crlf"},
		{"mixed ends", "a\r\nb\nc", "a\nb\nc", "utf-8", "mixed"},
		{"CR alone", "a\rb", "a\rb", "utf-8", "none"},
		{"byte-order mark", "\xef\xbb\xbfhé\n", "hé\n", "utf-8-bom", "lf"},
		{"only a mark", "\xef\xbb\xbf", "", "utf-8-bom", "none"},
		{"legacy", "Acme\x99\n", "Acme™\n", "windows-1252", "lf"},
		{"mixed encodings", "é\x99", "é™", "mixed utf-8 and windows-1252", "none"},
		{"UTF-16", "\xff\xfeh\x00i\x00\r\x00\n\x00", "hi\n", "utf-16le", "crlf"},
		{"UTF-16 big", "\xfe\xff\x00h\xd8\x3d\xde\x00", "h😀", "utf-16be", "none"},
		{"UTF-16 cut off", "\xff\xfeh\x00i", "h\ufffd", "utf-16le", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := NewView([]byte(tt.raw))
			require.Equal(t, tt.text, string(v.Text))
			require.Equal(t, tt.encoding, v.Census.Encoding(v.Format))
			require.Equal(t, tt.ends, v.Census.LineEnding())
			require.Equal(t, len(tt.raw), v.Offset(len(v.Text)))
		})
	}
}

func TestLineEnd(t *testing.T) {
	v := NewView([]byte("a\r\nb\n"))
	require.Equal(t, "\r\n", v.LineEnd(1))
	require.Equal(t, "\n", v.LineEnd(3))
}

// Every character of the text stands for bytes that decode to it again.
func FuzzView(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb", "\xef\xbb\xbfx", "\xff\xfeh\x00\r\x00\n\x00\x00\xd8", "é\x99\xc3", "\xfe\xff\xd8"} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(strings.Repeat("é\x99\r\n", 3*spacing)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := NewView(raw)
		require.True(t, utf8.Valid(v.Text))
		require.Equal(t, len(raw), v.Offset(len(v.Text)))
		if len(v.Text) > 4*spacing {
			return // walking to every place of a long text is slow, and shows nothing new
		}
		last := len(v.Format.Mark())
		require.Equal(t, last, v.Offset(0))
		for at := 0; at < len(v.Text); {
			_, size := utf8.DecodeRune(v.Text[at:])
			from, to := v.Offset(at), v.Offset(at+size)
			require.Equal(t, last, from)
			require.Greater(t, to, from)
			if !v.Format.Wide() {
				again := v.Format.appendDecoded(nil, raw[from:to], &Census{})
				require.True(t, bytes.Equal(v.Text[at:at+size], again))
			}
			at, last = at+size, to
		}
	})
}
