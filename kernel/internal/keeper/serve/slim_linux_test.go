package serve

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCleanMappings(t *testing.T) {
	const smaps = `00400000-00c5f000 r-xp 00001000 fe:00 1234  /path
Rss:                1000 kB
Anonymous:             0 kB
00c5f000-00c60000 r--p 00001000 fe:00 1234  /path of a linker that wrote
Anonymous:             4 kB
00c60000-00c61000 rw-p 00001000 fe:00 1234  /path
Anonymous:             0 kB
00c61000-00c62000 r--s 00001000 fe:00 1234  /shared
Anonymous:             0 kB
7f000000-7f001000 r--p 00000000 00:00 0
Anonymous:             0 kB
7f001000-7f002000 r-xp 00000000 00:00 0  [vdso]
Anonymous:             0 kB
VmFlags: rd ex

nonsense
`
	require.Equal(t, []mapping{{0x400000, 0xc5f000}}, clean([]byte(smaps)))
	require.Empty(t, clean(nil))
}

// What is let go comes back: this test goes on.
func TestSlim(t *testing.T) {
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	require.NotEmpty(t, clean(smaps))
	slim()
	slim()
}

func TestParentIn(t *testing.T) {
	parent, ok := parentIn([]byte("7 (a) b) (c) S 42 7 7 0"))
	require.True(t, ok)
	require.Equal(t, 42, parent)
	_, ok = parentIn([]byte("7 (a"))
	require.False(t, ok)
}

func TestChildrenByScanFindsTheSame(t *testing.T) {
	require.Contains(t, childrenByScan(os.Getppid()), os.Getpid())
	require.Contains(t, ChildrenOf(os.Getppid()), os.Getpid())
}

func TestWire(t *testing.T) {
	for _, value := range []int{0, 1, 255, 256, 4194304, 139} {
		kind, got := Decode(encode(ReplyExited, value))
		require.Equal(t, ReplyExited, kind)
		require.Equal(t, value, got)
	}
}
