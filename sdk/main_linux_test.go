package sdk_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A kernel that is stopped reads nothing: not the stream, nor the log, nor standard error. A provider that is told to end does.
func TestTerminatedProviderOfAStoppedKernel(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	kernel := exec.Command(os.Args[0])
	kernel.Env = append(os.Environ(), actAs+"=floodedKernel", closedFile+"="+closed, "TMPDIR="+socketFolder(t))
	out, err := kernel.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, kernel.Start())
	t.Cleanup(func() {
		_ = kernel.Process.Kill()
		_ = kernel.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), "pid "))
	require.NoError(t, err)
	require.NoError(t, kernel.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { return stateOf(kernel.Process.Pid) == "T" }, patience, 5*time.Millisecond)
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	require.Eventually(t, func() bool { return stateOf(pid) == "Z" }, patience, 5*time.Millisecond, "its parent cannot reap it")
	cause, err := os.ReadFile(closed)
	require.NoError(t, err)
	require.Equal(t, "the provider was told to terminate", string(cause))
}

// stateOf is what the system says of a process; empty when there is none.
func stateOf(pid int) string {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return state[:min(1, len(state))]
}
