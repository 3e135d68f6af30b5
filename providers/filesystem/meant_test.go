package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A path that is written in another form than this provider takes is answered
// with the right one, or with what was wrong.
func TestPathsWrittenInOtherWays(t *testing.T) {
	w := newWorld(t, args{"deny": []any{".env"}})
	w.put("root/src/f.go", "")
	w.put("root/.env", "SECRET")
	w.put("root/dir/g", "")
	w.put("f", "")
	for _, tt := range []struct{ name, path, says string }{
		{"URL", "file://" + w.root + "/src/f.go", "did you mean " + w.root + "/src/f.go?"},
		{"backslashes", `src\f.go`, "did you mean src/f.go?"},
		{"quotes", `"src/f.go"`, "did you mean src/f.go?"},
		{"a diff's prefix", "b/src/f.go", "did you mean src/f.go?"},
		{"the project's name", "root/src/f.go", "did you mean src/f.go?"},
		{"another directory", "dir/f.go", "list dir"},
		{"home", "~/notes", "~ is not expanded"},
		{"variable", "$HOME/notes", "variables are not expanded"},
		{"another URL", "https://x.org/a", "not a URL"},
		{"pattern", "src/*.go", "with glob"},
		{"what is denied is not told", "'.env'", "it does not exist; list"},
		{"nor what is outside", "'../f'", "does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := w.refused("read_file", args{"path": tt.path}, notFound)
			require.Contains(t, e.GetMessage(), tt.says)
			require.NotContains(t, e.GetMessage(), "mean .")
		})
	}
}
