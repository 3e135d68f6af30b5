package proc

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUsed(t *testing.T) {
	if UsedHere() == 0 {
		t.Skip("the system does not say what threads have used")
	}
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo; read x")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	here := UsedHere()
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	child := Used(cmd.Process.Pid)
	require.Greater(t, child, time.Millisecond)
	require.GreaterOrEqual(t, Used(os.Getpid()), here+child)
	require.NoError(t, in.Close())
	_ = cmd.Wait() // read ends with an error
	require.Zero(t, Used(cmd.Process.Pid))
}

func TestProcess(t *testing.T) {
	mark := fmt.Sprintf("7501.%d", os.Getpid())
	cmd := exec.Command("sleep", mark)
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
	require.Eventually(t, func() bool { // Start returns before the system has its new name and arguments in place
		_, parts := Memory(cmd.Process.Pid, true)
		return len(Marked(mark)) == 1 && parts["sleep"] > 0
	}, time.Minute, time.Millisecond)
	require.True(t, found(), "a child is in the tree")
	marked := Marked(mark)
	require.Len(t, marked, 1)
	require.True(t, marked[0].Alive())
	require.Eventually(t, func() bool { // it grows until it sleeps
		total, parts := Memory(cmd.Process.Pid, true)
		ForgetPeak(cmd.Process.Pid)
		after, _ := Memory(cmd.Process.Pid, true)
		return 0 < after && after <= total && total == parts["sleep"]
	}, time.Minute, time.Millisecond)

	other := ID{PID: marked[0].PID, start: "1"}
	require.False(t, other.Alive(), "a pid alone is not the process")
	other.Kill()
	require.True(t, marked[0].Alive())

	marked[0].Kill()
	_ = cmd.Wait()
	ended = true
	require.False(t, marked[0].Alive())
	require.False(t, found())
	require.Empty(t, Marked(mark))
}
