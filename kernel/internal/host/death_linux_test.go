package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// parentOf reads which process has started another: of a provider, its keeper.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "\nPPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	parent, err := strconv.Atoi(line)
	require.NoError(t, err)
	return parent
}

// stop stops a process, which takes a moment: its threads stop one by one, and others work on meanwhile.
func stop(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, unix.Kill(pid, unix.SIGSTOP))
	require.Eventually(t, func() bool {
		threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/status")
		require.NoError(t, err)
		return !slices.ContainsFunc(threads, func(thread string) bool {
			status, err := os.ReadFile(thread)
			return err == nil && !strings.Contains(string(status), "\nState:\tT")
		})
	}, time.Minute, time.Millisecond)
}

// A keeper that is slow to tell, here one that was stopped, costs no call but those that the death itself has cost; and all
// of those are one crash.
func TestDeathCostsTheCallsInFlightAndNoOther(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	reply, _ := invoke(t, p, "pid", nil)
	pid := int(reply.Payload.AsMap()["pid"].(float64))
	const calls = 20
	replies := make([]Reply, calls)
	var wait, begun sync.WaitGroup
	for i := range calls {
		r := hosttest.NewRecorder()
		call := callOf(t, p, "block", nil)
		begun.Go(func() { <-r.Came })
		wait.Go(func() { replies[i] = p.Invoke(t.Context(), call, r.Show) })
	}
	begun.Wait()
	require.NoError(t, unix.Kill(parentOf(t, pid), unix.SIGSTOP))
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	wait.Wait()
	for _, reply := range replies {
		require.Equal(t, Crashed, reply.Ending, reply.Error)
		require.NotZero(t, reply.Crash)
		require.Equal(t, replies[0].Crash, reply.Crash, "it was one death")
	}
	for range 3 {
		reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
		require.Equal(t, Completed, reply.Ending, reply.Error)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Len(t, p.loop.crashes, 1)
}

// A death between two calls is none of the next one's business.
func TestDeathBetweenCalls(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	for range crashLimit - 1 {
		reply, _ := invoke(t, p, "pid", nil)
		pid := int(reply.Payload.AsMap()["pid"].(float64))
		l := p.life
		require.NoError(t, unix.Kill(parentOf(t, pid), unix.SIGSTOP))
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
		<-l.severed
		reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
		require.Equal(t, Completed, reply.Ending, reply.Error)
	}
}

// A provider that lives on without its connection is ended, and only then is there another.
func TestProviderThatHangsUp(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	reply, _ := invoke(t, p, "pid", nil)
	pid := int(reply.Payload.AsMap()["pid"].(float64))
	reply, _ = invoke(t, p, "die", map[string]any{"how": "hang up"})
	require.Equal(t, Crashed, reply.Ending, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "closed its connection during the call and was ended")
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, reply.Error)
	require.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH)
}

// A provider that is stopped, or stuck, costs the calls that it has, and not every one after them.
func TestProviderThatIsStopped(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	reply, _ := invoke(t, p, "pid", nil)
	pid, l := int(reply.Payload.AsMap()["pid"].(float64)), p.life
	r := hosttest.NewRecorder()
	call := callOf(t, p, "block", nil)
	other := make(chan Reply)
	go func() { other <- p.Invoke(t.Context(), call, r.Show) }()
	<-r.Came
	stop(t, pid)
	for l.usable() && !l.suspected.Load() { // a call that is cancelled before it begins says nothing of its provider
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		reply = p.Invoke(ctx, callOf(t, p, "echo", map[string]any{"text": "hi"}), func(*toolv1.ToolEvent) {})
		cancel()
		require.Equal(t, Cancelled, reply.Ending, reply.Error)
	}
	reply = <-other
	require.Equal(t, Crashed, reply.Ending, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "did not answer any more during the call and was ended")
	<-l.process.ended
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, reply.Error)
}
