package stdout

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// It is initialised before anything can print that needs one of these.
func TestInitialisedFirst(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		list.Env = append(list.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		require.NoError(t, err)
		require.NotContains(t, strings.Fields(string(out)), "os")
		require.NotContains(t, strings.Fields(string(out)), "internal/poll")
		list = exec.CommandContext(t.Context(), "go", "list", "-deps", "os")
		list.Env = append(list.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err = list.Output()
		require.NoError(t, err)
		require.Contains(t, strings.Fields(string(out)), "internal/poll", "package os waits for it, and it for this package")
	}
}
