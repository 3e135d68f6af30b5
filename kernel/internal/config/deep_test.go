package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is deep without brackets stays within what the parser and the evaluator can bear.
func TestLoadDeepWithoutBrackets(t *testing.T) {
	tests := []struct{ name, expr string }{
		{"operators", "1" + strings.Repeat("+1", maxFileBytes/2-100)},
		{"traversal", "path" + strings.Repeat(".a", maxFileBytes/2-100)},
		{"template directives", `"` + strings.Repeat("%{if 1}", maxFileBytes/8) + `"`},
		{"splats", "path" + strings.Repeat(".*", maxFileBytes/2-100)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(*testing.T) {
			_, _ = loadText(withProvider("x = " + tt.expr))
		})
	}
}

// A list of calls may be much larger than a configuration, and is read in the same way.
func TestTooMuchIsRefused(t *testing.T) {
	tests := []struct{ name, expr, want string }{
		{"directives", `"` + strings.Repeat("%{if true}", 100_000), "Nested too deeply"},
		{"operators", strings.Repeat("1+", 100_000) + "1", "Expression too long"},
		{"operators and brackets", strings.Repeat("(1)+", 100_000) + "1", "Expression too long"},
		{"traversal", "path" + strings.Repeat(".a", 100_000), "Expression too long"},
		{"indices", "path" + strings.Repeat("[0]", 100_000), "Expression too long"},
		{"minus", strings.Repeat("-", 1000) + "1", "Nested too deeply"},
		{"conditions", strings.Repeat("true?1:", 1000) + "1", "Nested too deeply"},
		{"number", "1e9999999", "Number too large"},
		{"small number", "1E-9999999", "Number too large"},
		{"number in a template", `"x${1e9999999}"`, "Number too large"},
		{"number as text", `upper(1e99999999999999999999)`, "Number too large"},
		{"replace", strings.Repeat("replace(", 12) + `"aaaaaaaaaa"` + strings.Repeat(`,"a","aaaaaaaaaa")`, 12), "too large for a configuration"},
		{"join", `join("` + strings.Repeat("a", 10_000) + `", split("", "` + strings.Repeat("b", 10_000) + `"))`, "too large for a configuration"},
		{"for", `[for x in ["a"] : x]`, "No place for a for expression"},
		{"for in a template", `"%{for x in ["a"]}${x}%{endfor}"`, "No place for a for expression"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadCalls([]byte("call \"x\" {\n operation = \"p.t\"\n arguments = { a = "+tt.expr+" }\n}\n"), "calls.hcl", Scope{Root: "/r"})
			require.ErrorContains(t, err, tt.want)
			if len(tt.expr) < maxFileBytes/2 {
				_, diags := loadText(withProvider("x = " + tt.expr))
				require.ErrorContains(t, diags, tt.want)
			}
		})
	}
}

// What people write is read, however long the list.
func TestMuchIsRead(t *testing.T) {
	for name, expr := range map[string]string{
		"templates": `"` + strings.Repeat("${path.root}", 20_000) + `"`, "directives": `"` + strings.Repeat("%{if true}a%{endif}", 20_000) + `"`,
		"list": "[" + strings.Repeat("path.root, [1], ", 20_000) + "]", "object": "{\n" + strings.Repeat("  a = 1 + 1\n", 20_000) + "}",
		"numbers": "[1e15, 1e-30, 1.5E+3]", "functions": `join(",", split("", "` + strings.Repeat("x", 100_000) + `"))`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LoadCalls([]byte("call \"x\" {\n operation = \"p.t\"\n arguments = { a = "+expr+" }\n}\n"), "calls.hcl", Scope{Root: "/r"})
			require.NoError(t, err)
		})
	}
}
