package suggest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk/internal/suggest"
)

func TestNearest(t *testing.T) {
	names := []string{"read_file", "write_file", "edit_file", "list_directory"}
	for word, want := range map[string]string{
		"read_flie":     "read_file",
		"readfile":      "read_file",
		"write":         "",
		"list_diretory": "list_directory",
		"changelog":     "",
		"":              "",
	} {
		require.Equal(t, want, suggest.Nearest(word, names), word)
	}
}
