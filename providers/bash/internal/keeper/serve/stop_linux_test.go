package serve

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestBlocksTerm(t *testing.T) {
	for _, c := range []struct {
		name, trap string
		want       bool
	}{
		{"no signal", "--default-signal", false},
		{"this one", "--block-signal=TERM", true},
		{"another", "--block-signal=HUP", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sleeper := exec.CommandContext(t.Context(), "env", c.trap, "sh", "-c", "echo up; exec sleep 1000")
			out, err := sleeper.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, sleeper.Start())
			up := make([]byte, 3)
			_, err = out.Read(up)
			require.NoError(t, err)
			require.Equal(t, c.want, blocksTerm(sleeper.Process.Pid))
			require.NoError(t, unix.Kill(sleeper.Process.Pid, unix.SIGKILL))
			require.Error(t, sleeper.Wait())
		})
	}
	require.False(t, blocksTerm(1<<30))
}

// A keeper ends before the packages are initialised that come after this one. One import of
// the wrong kind, and it would be nearly all of them.
func TestInitialisedEarly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, late := range []string{"unicode", "strings", "bytes", "reflect", "fmt", "golang.org/x/sys/unix"} {
		require.NotContains(t, strings.Fields(string(out)), late)
	}
}
