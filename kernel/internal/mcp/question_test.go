package mcp

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// M04, M09: the question that is the answer to a request is strict JSON too: what it has nothing of is an empty list.
func TestQuestionHasNoNulls(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	for _, test := range []struct{ name, method, params, list string }{
		{"tool", "tools/call", fmt.Sprintf(`"name":"fixture_write","arguments":{"path":%q,"content":"x"}`, filepath.Join(t.TempDir(), "a")), `"content":[]`},
		{"prompt", "prompts/get", `"name":"tidy"`, `"messages":[]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, nil, nil).raw(t)
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, test.method, test.params, meta))
			m := c.next()
			require.Nil(t, m.Error)
			require.Contains(t, string(m.Result), `"inputRequests":{`)
			require.Contains(t, string(m.Result), test.list)
			require.NotContains(t, string(m.Result), "null")
		})
	}
}
