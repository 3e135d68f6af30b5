package subject

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a server answered is given by another one byte by byte, so that both cost a client the same.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	vars := Vars{"fx": dir, "path": filepath.Join(dir, "a"), "home": dir, "PATH": os.Getenv("PATH")}
	require.NoError(t, os.WriteFile(vars["path"], []byte("hello \"é\"\n"), 0o644))
	binary := served(t, "floormcp")
	read := &Op{Before: []Step{{Tool: "read", Args: map[string]any{"path": "${fx}/other"}}}, Steps: []Step{{Tool: "read", Args: map[string]any{"path": "${path}"}}}}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("other"), 0o644))
	p := &Peer{Name: "floor", Kind: "mcp", Command: []string{binary, "-twice"}, Ops: map[string]*Op{"read": read}}
	x, err := p.Dial(t.Context(), vars)
	require.NoError(t, err)
	defer x.Close()
	result, err := x.(*server).Record(t.Context(), "read", Batch{N: 5, Workers: 2, Vars: vars})
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(result, []byte(`"hello \"é\"\n"`)), "as text and structured: %s", result)
	tools, err := p.RecordTools(t.Context(), vars)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(tools, []byte(`{"`)))

	answers := filepath.Join(dir, "answers")
	require.NoError(t, os.Mkdir(answers, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(answers, "read.json"), result, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(answers, "tools.json"), tools, 0o644))
	same := &Peer{Name: "same", Kind: "mcp", Command: []string{binary, "-answers", answers}, Ops: map[string]*Op{"read": {Steps: []Step{{Tool: "read"}}}}}
	_, n, err := same.Cold(t.Context(), vars)
	require.NoError(t, err)
	require.Equal(t, 7, n)
	y, err := same.Dial(t.Context(), vars)
	require.NoError(t, err)
	defer y.Close()
	again, err := y.(*server).Record(t.Context(), "read", Batch{Vars: vars})
	require.NoError(t, err)
	require.Equal(t, string(result), string(again))
	got, err := y.Batch(t.Context(), "read", Batch{N: 3, Vars: vars})
	require.NoError(t, err)
	require.Equal(t, "hello \"é\"\n", got.Text)
	require.Empty(t, y.(*server).process.tape.kept, "nothing is kept while nobody records")

	_, err = x.(*server).Record(t.Context(), "read", Batch{Vars: vars.With("path", filepath.Join(dir, "none"))})
	require.ErrorContains(t, err, "no such file")
	require.Empty(t, x.(*server).process.tape.stop())
}

func TestLastResult(t *testing.T) {
	for _, test := range []struct{ name, lines, want, fails string }{
		{"as it was written", `{"id":1,"result":{"a" : 1.50,"b":"\u00e9"}}`, `{"a" : 1.50,"b":"\u00e9"}`, ""},
		{"the last", `{"id":1,"result":{"n":1}}` + "\n" + `{"id":2,"result":{"n":2}}` + "\n" + `{"method":"said"}`, `{"n":2}`, ""},
		{"an error is no answer", `{"id":1,"error":{"code":3}}`, "", "no answer"},
		{"nothing", "", "", "no answer"},
		{"noise", "hello\n", "", "no message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := lastResult([]byte(strings.TrimSuffix(test.lines, "\n")))
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}
