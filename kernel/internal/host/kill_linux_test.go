package host

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fakeKernel starts a provider, says its process id, and waits to be killed.
func fakeKernel() {
	p, err := Start(context.Background(), spec(hosttest.Good), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	call := Call{ID: "1", Operation: Operation{Provider: "fixture", Category: 2, Name: "block"}}
	p.Invoke(context.Background(), call, func(*toolv1.ToolEvent) { fmt.Println(p.life.process.ID()) })
}

// waitGone waits for the end of a process that is not our child.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return
	}
	require.NoError(t, err)
	defer func() { _ = unix.Close(fd) }()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
		if n == 1 {
			return
		}
		if err != unix.EINTR {
			require.NoError(t, err)
		}
	}
	t.Fatalf("process %d is still there", pid)
}

// K21
func TestKilledKernelLeavesNoProvider(t *testing.T) {
	kernel := exec.Command(hosttest.Path())
	kernel.Env = append(os.Environ(), hosttest.MainEnv("kernel"))
	out, err := kernel.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, kernel.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)
	require.NoError(t, unix.Kill(pid, 0), "the provider runs")
	require.NoError(t, kernel.Process.Kill())
	_ = kernel.Wait()
	waitGone(t, pid)
}

func TestGroupGoesWithTheProvider(t *testing.T) {
	for _, name := range []string{"close", "crash"} {
		t.Run(name, func(t *testing.T) {
			p := start(t, spec(hosttest.Good))
			reply, _ := invoke(t, p, "spawn", nil)
			require.Equal(t, Completed, reply.Ending, reply.Error)
			pid := int(reply.Payload.AsMap()["pid"].(float64))
			require.NoError(t, unix.Kill(pid, 0), "the grandchild runs")
			if name == "close" {
				p.Close()
			} else {
				invoke(t, p, "die", map[string]any{"how": "kill"})
			}
			waitGone(t, pid)
		})
	}
}

// K26
func TestProviderHasAGroupOfItsOwn(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	pid, err := strconv.Atoi(p.life.process.ID())
	require.NoError(t, err)
	group, err := unix.Getpgid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, group)
}
