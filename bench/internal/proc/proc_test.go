package proc

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcess(t *testing.T) {
	cmd := exec.Command("sleep", "7501.25")
	require.NoError(t, cmd.Start())
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	found := func() bool {
		for _, p := range Tree(os.Getpid()) {
			if p.PID == cmd.Process.Pid {
				return true
			}
		}
		return false
	}
	require.True(t, found(), "a child is in the tree")
	marked := Marked("7501.25")
	require.Len(t, marked, 1)
	require.True(t, marked[0].Alive())
	total, parts := Memory(cmd.Process.Pid, true)
	require.Positive(t, total)
	require.InDelta(t, total, parts["sleep"], 1e-9)

	ForgetPeak(cmd.Process.Pid)
	after, _ := Memory(cmd.Process.Pid, true)
	require.Positive(t, after)
	require.LessOrEqual(t, after, total)

	other := ID{PID: marked[0].PID, start: "1"}
	require.False(t, other.Alive(), "a pid alone is not the process")
	other.Kill()
	require.True(t, marked[0].Alive())

	marked[0].Kill()
	_ = cmd.Wait()
	ended = true
	require.False(t, marked[0].Alive())
	require.False(t, found())
	require.Empty(t, Marked("7501.25"))
}
