package prepare

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A start is measured as it is of binaries that were installed before, not of ones that were built this second.
func TestBinariesSettle(t *testing.T) {
	p := &Place{Root: t.TempDir()}
	require.NoError(t, p.settle(t.Context()), "there are none")
	require.NoError(t, os.MkdirAll(p.Bin(), 0o755))
	file := filepath.Join(p.Bin(), "provider-bash")
	require.NoError(t, os.WriteFile(file, nil, 0o755))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.settle(cancelled), context.Canceled, "it is new")
	begun := time.Now()
	require.NoError(t, os.Chtimes(file, begun, begun.Add(200*time.Millisecond-settled)))
	require.NoError(t, p.settle(t.Context()))
	require.GreaterOrEqual(t, time.Since(begun), 200*time.Millisecond)
}
