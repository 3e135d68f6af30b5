//go:build unix

package textfile_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/stretchr/testify/require"
)

func TestOpenDoesNotWaitForAPipe(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "CHANGELOG.md"), 0o644))
	_, err := textfile.Open(root, "CHANGELOG.md")
	require.ErrorContains(t, err, "no regular file")
}
