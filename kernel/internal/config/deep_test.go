package config

import (
	"strings"
	"testing"
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
