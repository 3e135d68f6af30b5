//go:build linux

package keeper

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A start that is more than a socket holds goes over in parts, its files with the first.
func TestLargeStart(t *testing.T) {
	pool := open(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	spec := specOf(`echo $# ${#1} ${#10}`, t.Name(), w)
	spec.Args = append(spec.Args, "sh")
	for range 10 {
		spec.Args = append(spec.Args, strings.Repeat("x", 100_000))
	}
	process, err := pool.Start(spec)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "10 100000 100000\n", string(text))
	wait(t, "the end", process.Gone())
}

// That a shell has exited and that nothing is left are one piece of news, so nobody thinks between them that there is
// something to be ended.
func TestKeeperIsFreeOnceItsShellHasExited(t *testing.T) {
	pool := open(t)
	for range 20 {
		process, _ := start(t, pool, "exit 3")
		wait(t, "the exit", process.Exited())
		pool.mu.Lock()
		idle := len(pool.idle[nil])
		pool.mu.Unlock()
		require.Equal(t, 1, idle)
		require.Equal(t, Status{Code: 3}, process.Status())
		wait(t, "the end", process.Gone())
	}
}
