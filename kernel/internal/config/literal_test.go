package config

import (
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

func TestLiteral(t *testing.T) {
	for text, want := range map[string]string{
		"":                   `""`,
		"plain":              `"plain"`,
		"a\n\"b\"\t\\":       `"a\n\"b\"\t\\"`,
		"${x} %{y} $ % $x":   `"$${x} %%{y} $ % $x"`,
		"\x1b \u202e \u00a0": `"\u001b \u202e \u00a0"`,
		"\U000e0001":         `"\U000e0001"`,
	} {
		require.Equal(t, want, literal(text))
	}
}

// What is written is read as the same text, whatever it holds.
func FuzzLiteral(f *testing.F) {
	for _, seed := range []string{"", "a", "${", "$${x}", "%%{if}", "$$", "\\", "\"", "\x00", "é\u0301", "\U0001f600", "$$${a}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // no file could hold it
		}
		expression, diagnostics := hclsyntax.ParseExpression([]byte(literal(text)), "literal", hcl.InitialPos)
		require.False(t, diagnostics.HasErrors(), diagnostics.Error())
		value, diagnostics := expression.Value(nil)
		require.False(t, diagnostics.HasErrors(), diagnostics.Error())
		require.Equal(t, norm.NFC.String(text), value.AsString())
	})
}
