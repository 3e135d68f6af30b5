package plain

import (
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"words of any script", "grün 日本 🙂", "grün 日本 🙂"},
		{"lines and tabs", "a\r\nb\tc\u2028d\u0085e", "a  b c d e"},
		{"control codes", "\x1b[31m\x07\u009b\x7f\x00", "\uFFFD[31m\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"no UTF-8", "a\xff\xfe", "a\uFFFD\uFFFD"},
		{"writing turned round", "safe\u202egnp.exe", "safe\uFFFDgnp.exe"},
		{"what cannot be seen", "a\u200bb\ufeffc\ufffe", "a\uFFFDb\uFFFDc\uFFFD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, Line(test.text)) })
	}
}

func TestClip(t *testing.T) {
	require.Equal(t, "grün", Clip("grün", 4))
	require.Equal(t, "grü…", Clip("grünlich", 4))
	require.Equal(t, "", Clip("", 4))
	require.Equal(t, "…", Clip("ab", 1))
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b[31m\x00\ufffe\u2028\xff", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		line := Line(text)
		require.True(t, utf8.ValidString(line))
		require.NotContains(t, line, "\n")
		var out strings.Builder
		require.NoError(t, xml.EscapeText(&out, []byte(line)))
		if most = max(1, most%100); utf8.RuneCountInString(line) > most {
			require.Equal(t, most, utf8.RuneCountInString(Clip(line, most)))
		} else {
			require.Equal(t, line, Clip(line, most))
		}
	})
}
