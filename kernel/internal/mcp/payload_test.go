package mcp

import (
	"encoding/json"
	"testing"

	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/stretchr/testify/require"
)

func TestDecoded(t *testing.T) {
	for in, want := range map[string]string{"": "{}", "null": "{}", `{"a":1}`: `{"a":1}`} {
		s, err := decoded(json.RawMessage(in))
		require.NoError(t, err)
		require.Equal(t, want, string(schema.AppendJSON(nil, s)))
	}
	for _, in := range []string{`[]`, `"a"`, `1`, `{"n":12345678901234567890}`} {
		_, err := decoded(json.RawMessage(in))
		require.Error(t, err, in)
	}
}
