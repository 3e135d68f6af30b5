package serve

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWire(t *testing.T) {
	for _, value := range []int{0, 1, 255, 256, 4194304, 139} {
		kind, got := Decode(encode(ReplyExited, value))
		require.Equal(t, ReplyExited, kind)
		require.Equal(t, value, got)
	}
}

// A keeper ends before the packages are initialised that come after this one. One import of the wrong kind, and it would be
// nearly all of the kernel's: a name that comes late makes its importers late.
func TestInitialisedEarly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, late := range []string{"unicode", "strings", "bytes", "reflect", "fmt", "golang.org/x/sys/unix"} {
		require.NotContains(t, strings.Fields(string(out)), late)
	}
}
