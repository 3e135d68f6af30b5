package serve

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestParentIn(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       int
		ok         bool
	}{
		{"usual", "12 (sleep) S 7 12 12", 7, true},
		{"parentheses and spaces in the name", "12 (a) S 1 (b) R 9 12", 9, true},
		{"cut off", "12 (sleep) S", 0, false},
		{"empty", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := parentIn(c.stat)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestBothWaysToFindChildrenAgree(t *testing.T) {
	sleeper := exec.CommandContext(t.Context(), "sleep", "1000")
	require.NoError(t, sleeper.Start())
	require.Equal(t, []int{sleeper.Process.Pid}, childrenByTask(os.Getpid()))
	require.Equal(t, []int{sleeper.Process.Pid}, childrenByScan()(os.Getpid()))
	require.NoError(t, sleeper.Process.Kill())
	require.Error(t, sleeper.Wait())
	require.Empty(t, childrenByTask(os.Getpid()))
}

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
