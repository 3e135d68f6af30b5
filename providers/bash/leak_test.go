//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

// SO-21
func TestFloodIsBounded(t *testing.T) {
	b := launch(t, "", nil)
	before := b.memory("VmRSS")
	stream := b.invoke(t.Context(), "yes | head -c 200000000; exit 7", nil)
	total, other := 0, false
	for {
		response, err := stream.Recv()
		if err != nil {
			break
		}
		total += len(response.GetEvent().GetOutputChunk().GetData())
		if !other && total > 1<<20 {
			other = true
			require.Equal(t, "served\n", collect(b.invoke(t.Context(), "echo served", nil)).stdout)
		}
		if result := response.GetEvent().GetResult(); result != nil {
			require.Equal(t, 200_000_000.0, result.GetPayload().AsMap()["output_bytes"])
			require.LessOrEqual(t, len(result.GetPayload().AsMap()["output"].(string)), 30_000)
			info, err := os.Stat(result.GetPayload().AsMap()["output_path"].(string))
			require.NoError(t, err)
			require.EqualValues(t, 200_000_000, info.Size())
		}
	}
	require.Equal(t, 200_000_000, total)
	o := collect(b.invoke(t.Context(), "timeout 0.5 yes", nil))
	require.EqualValues(t, 124, o.last().GetResult().GetPayload().AsMap()["exit_code"])
	require.Less(t, b.memory("VmHWM")-before, 64<<20)
}

// SO-21: nobody slows a process in the background down, and it needs no more memory for that.
func TestBackgroundFloodIsBounded(t *testing.T) {
	b := launch(t, "", nil)
	before := b.memory("VmRSS")
	o := collect(b.invoke(t.Context(), "yes | head -c 100000000; echo; echo end; sleep 1000", fields{"background": true}))
	id := o.last().GetResult().GetPayload().AsMap()["session_id"]
	output := func(offset int) fields {
		o := collect(b.call(t.Context(), "process_output", fields{"id": id, "offset": offset}))
		return o.last().GetResult().GetPayload().AsMap()
	}
	require.Eventually(t, func() bool { return output(-4)["output"] == "end\n" }, patience, 10*time.Millisecond)
	require.Equal(t, "y\ny\n", output(50_000_000)["output"].(string)[:4])
	require.Less(t, b.memory("VmHWM")-before, 64<<20)
}

// SO-30
func TestSlowAndGoneReaders(t *testing.T) {
	b := launch(t, "", nil)
	idle := b.memory("VmRSS")
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	stream := b.invoke(ctx, "echo up; exec yes", nil)
	for total := 0; total < 1<<20; {
		response, err := stream.Recv()
		require.NoError(t, err)
		total += len(response.GetEvent().GetOutputChunk().GetData())
	}
	// Nobody reads on: the command comes to a standstill, other calls do not.
	yes := survivors(t)
	require.Len(t, yes, 1)
	for begun, still := time.Now(), false; !still || time.Since(begun) < *stall; {
		before := cpuTicks(t, yes[0])
		require.Equal(t, "served\n", collect(b.invoke(t.Context(), "sleep 0.2; echo served", nil)).stdout)
		still = cpuTicks(t, yes[0]) == before
		require.Less(t, time.Since(begun), patience+*stall)
	}
	require.Less(t, b.memory("VmHWM")-idle, 64<<20)
	hangUp()
	requireNoSurvivors(t)
}

// SO-30: the same inside this process, where goroutines can be counted.
func TestGoneReadersLeaveNoGoroutines(t *testing.T) {
	h := startInside(t, fields{"env": fields{markVariable: t.Name()}})
	cancelAt(t, h, "echo up; sleep 1000", "up\n")
	leave(t, h) // what stays for the next call is there now: keepers that are idle, the connection for reports
	before := runtime.NumGoroutine()
	for range 3 {
		leave(t, h)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, patience, 10*time.Millisecond)
}

// leave hangs up on a call once it has come to a standstill.
func leave(t *testing.T, h *sdktest.Harness) {
	t.Helper()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	total := 0
	h.Watch(ctx, h.Dir, "bash", fields{"command": "yes"}, func(e *toolv1.ToolEvent) {
		if total += len(e.GetOutputChunk().GetData()); total < 1<<20 || ctx.Err() != nil {
			return
		}
		yes := survivors(t)
		require.Len(t, yes, 1)
		for before := ""; before != cpuTicks(t, yes[0]); { // until it waits for this reader
			before = cpuTicks(t, yes[0])
			require.Equal(t, "served\n", run(t, h, "sleep 0.2; echo served").Stdout)
		}
		hangUp()
	})
	require.Empty(t, survivors(t))
}

// SO-31
func TestNoDescriptorsAreLeft(t *testing.T) {
	b := launch(t, "", fields{"kill_grace_ms": 100})
	mixed := func(i int) {
		switch i % 5 {
		case 0:
			collect(b.invoke(t.Context(), "sleep 1000", fields{"timeout_ms": 20}))
		case 1:
			ctx, cancel := context.WithCancel(t.Context())
			stream := b.invoke(ctx, "setsid sleep 1000 & echo up; sleep 1000", nil)
			until(t, stream, "up\n")
			cancel()
			collect(stream)
		case 2:
			collect(b.invoke(t.Context(), "true", fields{"cwd": "none"}))
		case 3:
			o := collect(b.invoke(t.Context(), "seq 20000; sleep 1000", fields{"background": true}))
			id := o.last().GetResult().GetPayload().AsMap()["session_id"]
			collect(b.call(t.Context(), "process_signal", fields{"id": id, "signal": "SIGKILL"}))
		default:
			require.Equal(t, "in\n", collect(b.invoke(t.Context(), "cat; seq 10000 >&2", fields{"stdin": "in\n"})).stdout)
		}
	}
	// As many as end in the background before the oldest is forgotten.
	for i := range 5 * 17 {
		mixed(i)
	}
	requireNoSurvivors(t)
	before := b.descriptors()
	for i := range *calls {
		mixed(i)
	}
	requireNoSurvivors(t)
	require.Eventually(t, func() bool { return b.descriptors() <= before+5 }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return len(childrenOf(t, b.pid)) <= 2 }, patience, 10*time.Millisecond, "keepers are reused")
	for _, keeper := range childrenOf(t, b.pid) {
		// A process may be dead for a moment before its keeper has buried it.
		require.Eventually(t, func() bool { return len(childrenOf(t, keeper)) == 0 }, patience, 10*time.Millisecond, "no zombies")
	}
}

// SO-31: the same inside this process, where goroutines can be counted.
func TestNoGoroutinesAreLeft(t *testing.T) {
	h := startInside(t, fields{"kill_grace_ms": 100})
	mixed := func(i int) {
		switch i % 3 {
		case 0:
			bashCall(t, h, fields{"command": "sleep 1000", "timeout_ms": 20})
		case 1:
			cancelAt(t, h, "echo up; sleep 1000", "up\n")
		default:
			run(t, h, "true")
		}
	}
	for i := range 9 {
		mixed(i)
	}
	before := runtime.NumGoroutine()
	for i := range *calls / 3 {
		mixed(i)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+5 }, patience, 10*time.Millisecond)
}

// SO-18: what loses its parent is buried even where nobody else would, as process 1.
func TestNoZombiesAsProcessOne(t *testing.T) {
	unshare := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if err := exec.Command(unshare[0], append(unshare[1:], "true")...).Run(); err != nil {
		t.Skip("namespaces are not to be had: ", err)
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], *binaryPath)...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TMPDIR="+shortDir(t))
	c, tool, err := connect(cmd, shortDir(t))
	t.Cleanup(c.Kill)
	require.NoError(t, err)
	b := &binary{t: t, tool: tool}
	_, err = tool.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, fields{})})
	require.NoError(t, err)
	for range 200 {
		collect(b.invoke(t.Context(), "(sleep 0.1 &) ; true", nil))
	}
	o := collect(b.invoke(t.Context(), `readlink /proc/1/exe
for i in $(seq 600); do dead=$(grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null); test -z "$dead" && break; sleep 0.1; done; echo "dead: $dead"`, nil))
	require.Equal(t, *binaryPath+"\ndead: \n", o.stdout, "they stay dead for a moment at most")
}

func (b *binary) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.pid))
	require.NoError(b.t, err)
	return len(entries)
}

// memory reads a size from the status of the provider, in bytes.
func (b *binary) memory(what string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.pid))
	require.NoError(b.t, err)
	m := regexp.MustCompile(what + `:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(b.t, m)
	n, err := strconv.Atoi(string(m[1]))
	require.NoError(b.t, err)
	return n << 10
}

// cpuTicks is how much a process has worked.
func cpuTicks(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(stat))[13:15], "+")
}

func childrenOf(t *testing.T, pid int) (found []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			require.NoError(t, err)
			found = append(found, child)
		}
	}
	return found
}
