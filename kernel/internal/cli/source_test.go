package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/words"
)

// A device may have no end.
func TestSourceIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(mostSourceBytes))
	text, err := readSource(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, text, mostSourceBytes)

	require.NoError(t, f.Truncate(mostSourceBytes+1))
	require.NoError(t, f.Close())
	_, err = readSource(t.Context(), file)
	require.EqualError(t, err, file+" is too large: at most 64 MiB are read")
}

// That a file of arguments cannot be read is no word's fault, and no word is marked.
func TestShellTellsOfAnUnreadableSource(t *testing.T) {
	sh, _, _ := shellOf(t)
	defer sh.beginTurn()()
	op := engine.Operation{Provider: "files", Name: "read", Input: testArguments()}
	list := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(list, []byte("[1]"), 0o600))
	for name, args := range map[string]string{"no file": "@/no/such/file", "no object": "@" + list} {
		t.Run(name, func(t *testing.T) {
			lines, err := words.Split("--args " + args + " path=x")
			require.NoError(t, err)
			err = sh.run(op, lines[0])
			require.ErrorContains(t, err, strings.TrimPrefix(args, "@"))
			require.NotErrorAs(t, err, new(*placedError))
		})
	}
}
