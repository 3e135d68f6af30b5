package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a program reads of a problem: the place in characters and in bytes, and the word that was meant.
func TestDiagnosticAsJSON(t *testing.T) {
	const src = "# ä\npolcy \"ü\" {\n}\n"
	tests := []struct {
		name, src, want string
	}{
		{"plain", src, `"start":{"line":2,"column":1,"byte":5},"end":{"line":2,"column":6,"byte":10}`},
		{"CRLF", strings.ReplaceAll(src, "\n", "\r\n"), `"start":{"line":2,"column":1,"byte":6},"end":{"line":2,"column":6,"byte":11}`},
		{"byte order mark", "\xef\xbb\xbf" + src, `"start":{"line":2,"column":1,"byte":8},"end":{"line":2,"column":6,"byte":13}`},
		{"characters", "/* äöü */ polcy \"x\" {}", `"start":{"line":1,"column":11,"byte":13},"end":{"line":1,"column":16,"byte":18}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(tt.src)
			require.Len(t, diags, 1)
			text, err := json.Marshal(diags[0])
			require.NoError(t, err)
			require.Contains(t, string(text), `"severity":"error","summary":"Unknown block \"polcy\""`)
			require.Contains(t, string(text), `"range":{`+tt.want+`}`)
			require.Contains(t, string(text), `"suggestion":"policy"`)
		})
	}
}

// The parser says what it suggests in words alone, and so does a hint in a summary.
func TestSuggestions(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"ours", `settings { loglevel = "debug" }`, "log_level"},
		{"in a summary", "policy \"a\" {\n match = { provider = \"fz\" }\n action = \"deny\"\n}\nrequired_providers { fs = { source = \"github.com/o/r\" } }", "fs"},
		{"none", `settings { zzzzzzzz = "debug" }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(tt.src)
			require.Len(t, diags, 1)
			require.Equal(t, tt.want, diags[0].Suggestion)
		})
	}
	p, _ := loadText(withProvider("rots = []"))
	_, err := p.Providers[0].Decode(testSchema)
	var diags Diagnostics
	require.ErrorAs(t, err, &diags)
	require.Equal(t, "roots", diags[0].Suggestion, "the words of the parser itself")
}
