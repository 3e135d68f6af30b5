package lean

import (
	"os"
	"regexp"
	"strconv"
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
7f002000-7f003000 r--p 00000000 fe:00 99  /a name/with r-xp in it
Anonymous:             0 kB
VmFlags: rd ex

nonsense
`
	require.Equal(t, []mapping{{0x400000, 0xc5f000}, {0x7f002000, 0x7f003000}}, clean([]byte(smaps)))
	require.Empty(t, clean(nil))
}

// What is let go is not held any more, and comes back: this test goes on.
func TestSlim(t *testing.T) {
	before := filePages(t)
	slim()
	require.Less(t, filePages(t), before)
	slim()
}

// filePages is what this process holds of files, in KiB.
func filePages(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	size := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, size)
	pages, err := strconv.Atoi(string(size[1]))
	require.NoError(t, err)
	return pages
}

func BenchmarkSlim(b *testing.B) {
	for b.Loop() {
		slim()
	}
}
