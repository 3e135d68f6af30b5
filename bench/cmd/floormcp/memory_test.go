package main

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
	require.NoError(t, serveMemory(strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`+"\n"+ //nolint:misspell // the word of the protocol
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+ //nolint:misspell // the word of the protocol
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n"+call("3", path)+call("4", path)), &out))
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

	require.ErrorContains(t, serveMemory(strings.NewReader(call("1", path+"-none")), &out), "no such file")
	require.Error(t, serveMemory(strings.NewReader("x\n"), &out))
}
