package bare

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServeMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("one \"two\"\n"), 0o644))
	call := func(id, path string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"read","arguments":{"path":"` + path + `"}}}` + "\n"
	}
	var out bytes.Buffer
	require.NoError(t, ServeMemory(strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`+"\n"+ //nolint:misspell // the word of the protocol
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+ //nolint:misspell // the word of the protocol
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n"+call("3", path)+call("4", path)), &out, Contents()))
	var answers []map[string]any
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		answers = append(answers, m)
	}
	require.Len(t, answers, 4, "a notification is not answered")
	require.Equal(t, "2025-06-18", answers[0]["result"].(map[string]any)["protocolVersion"])
	want := map[string]any{"content": []any{map[string]any{"type": "text", "text": "one \"two\"\n"}}}
	require.Equal(t, want, answers[2]["result"])
	require.Equal(t, want, answers[3]["result"])
	require.InEpsilon(t, 4, answers[3]["id"], 0)

	require.ErrorContains(t, ServeMemory(strings.NewReader(call("1", path+"-none")), &out, Contents()), "no such file")
	require.Error(t, ServeMemory(strings.NewReader("x\n"), &out, Contents()))
}

// What was recorded is answered byte by byte, whatever is asked with it, and read once.
func TestServeRecorded(t *testing.T) {
	dir := t.TempDir()
	const recorded = `{"content":[{"type":"text","text":"a\u00e9 é"}], "structuredContent":{"n":1.50}}`
	file := filepath.Join(dir, "read4k.json")
	require.NoError(t, os.WriteFile(file, []byte(recorded), 0o644))
	answers := Recorded(dir)
	for i, arguments := range []string{`{"path":"somewhere","limit":3}`, `{}`} {
		var out bytes.Buffer
		require.NoError(t, ServeMemory(strings.NewReader(
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read4k","arguments":`+arguments+`}}`+"\n"), &out, answers))
		require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":`+recorded+"}\n", out.String())
		if i == 0 {
			require.NoError(t, os.Remove(file))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`{"tools":[]}`), 0o644))
	var out bytes.Buffer
	require.NoError(t, ServeMemory(strings.NewReader(`{"jsonrpc":"2.0","id":8,"method":"tools/list"}`+"\n"), &out, answers))
	require.Equal(t, `{"jsonrpc":"2.0","id":8,"result":{"tools":[]}}`+"\n", out.String())
	_, err := answers("never", "")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = answers("../outside", "")
	require.ErrorContains(t, err, filepath.Join(dir, "outside.json"), "nothing outside the folder")
}
