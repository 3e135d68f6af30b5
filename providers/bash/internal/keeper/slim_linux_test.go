package keeper

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	found := clean(strings.NewReader(`00400000-00c5f000 r-xp 00001000 fe:00 1234                       /usr/bin/provider-bash
Rss:                8000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00c5f000-01600000 r--p 00860000 fe:00 1234                       /usr/bin/provider-bash
Anonymous:             8 kB
01600000-01700000 rw-p 01200000 fe:00 1234                       /usr/bin/provider-bash
Anonymous:             0 kB
01700000-01800000 r--p 00000000 00:00 0
Anonymous:             0 kB
01800000-01900000 r--p 00000000 fe:00 99                         /a name/with r-xp in it
Anonymous:             0 kB
7f0000000000-7f0000001000 r--s 00000000 00:01 7                  /dev/shm/x
Anonymous:             0 kB
`))
	require.Equal(t, []mapping{{0x400000, 0xc5f000}, {0x1800000, 0x1900000}}, found)
}

// A keeper costs its own memory and little of the binary it is started from.
func TestKeepersAreSmall(t *testing.T) {
	pool := open(t)
	process, _ := start(t, pool, "exit 0")
	wait(t, "gone", process.Gone())
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", soleKeeper(t, pool)))
	require.NoError(t, err)
	size := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, size)
	kilobytes, err := strconv.Atoi(string(size[1]))
	require.NoError(t, err)
	t.Logf("%d kB", kilobytes)
	require.Less(t, kilobytes, 8<<10)
}
