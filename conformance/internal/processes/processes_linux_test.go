package processes

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Processes are found by descent, by group, and by the folder they know, also when their parent is gone.
func TestRelated(t *testing.T) {
	dir := t.TempDir()
	root := exec.Command("sh", "-c", `sleep 60 & echo $!; setsid env -i sleep 60 & echo $!; TMPDIR=`+dir+`/t setsid sh -c 'sleep 60 & echo $!'; read line`)
	root.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := root.StdinPipe()
	require.NoError(t, err)
	stdout, err := root.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, root.Start())
	var started []int
	lines := bufio.NewScanner(stdout)
	for len(started) < 3 && lines.Scan() {
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		require.NoError(t, err)
		started = append(started, pid)
	}
	t.Cleanup(func() {
		for _, pid := range started {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})

	found := Related(root.Process.Pid, dir)
	require.Contains(t, found, root.Process.Pid)
	require.Subset(t, found, started)
	require.Contains(t, Children(root.Process.Pid), started[0])
	require.Contains(t, Name(started[0]), "sleep 60")

	// One that fled into a session of its own and knows no folder is lost with its parent; the other two are not.
	require.NoError(t, stdin.Close())
	_ = root.Wait() // read finds no line and fails
	found = Related(root.Process.Pid, dir)
	require.Contains(t, found, started[0], "its group is the root's")
	require.Contains(t, found, started[2], "its environment has the folder")
}
