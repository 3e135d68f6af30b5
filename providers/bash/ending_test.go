//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

const patience = 60 * time.Second

// markVariable is in the environment of everything that a test starts.
const markVariable = "BASH_TEST_MARK"

// runaways are ways to get out of the reach of whoever started a process. Each prints
// "up" from the process that stays.
var runaways = []struct{ name, script string }{
	{"plain", `(echo up; exec sleep 1000) & `},
	{"nohup", `nohup sh -c 'echo up; exec sleep 1000' 2>/dev/null | cat & `},
	{"setsid", `setsid sh -c 'echo up; exec sleep 1000' & `},
	{"double fork", `(setsid sh -c '(echo up; exec sleep 1000) & exit' &) ; `},
	{"no descriptor of ours", `(setsid sh -c 'exec sleep 1000' >/dev/null 2>&1 &) ; echo up; `},
	{"a job of its own", `set -m; (echo up; exec sleep 1000) & disown; `},
	{"stops itself", `setsid sh -c 'echo up; kill -STOP $$; sleep 1000' & `},
	{"another name", `(echo up; exec -a 'provider-bash: keeper' sleep 1000) & `},
	{"ignores TERM", `sh -c 'trap "" TERM HUP; echo up; while :; do sleep 1000; done' & `},
	{"ignores TERM, in a session of its own", `setsid sh -c 'trap "" TERM HUP; echo up; while :; do sleep 1000; done' & `},
}

// marked starts a harness whose commands can be told from all other processes.
func marked(t *testing.T, extra fields) *sdktest.Harness {
	t.Helper()
	c := fields{"env": fields{markVariable: t.Name()}}
	for name, value := range extra {
		c[name] = value
	}
	return start(t, c)
}

// survivors are the living processes that carry the mark of the test.
func survivors(t *testing.T) []int {
	t.Helper()
	return survivorsOf(t, t.Name())
}

// survivorsOf are the living processes that carry a mark.
func survivorsOf(t *testing.T, mark string) []int {
	t.Helper()
	var found []int
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range files {
		environ, _ := os.ReadFile(file)
		if bytes.Contains(environ, []byte(markVariable+"="+mark+"\x00")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(t, err)
			found = append(found, pid)
		}
	}
	return found
}

// SO-01, SO-02: the result comes although the output is held open for longer than the
// limit, and when it is there nothing is left.
func TestNothingIsLeftAfterTheEnd(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			h := marked(t, nil)
			r := run(t, h, c.script+"sleep 0.1; echo ready")
			require.Empty(t, survivors(t))
			require.Contains(t, r.Stdout, "ready\n")
			require.EqualValues(t, 0, r.Result["exit_code"])
		})
	}
}

// timedOut makes a call that goes on until its time is over, and has printed wants by then: a slow machine gets more time.
func timedOut(t *testing.T, h *sdktest.Harness, command string, wants ...string) *sdktest.Result {
	t.Helper()
	for limit := 1000; ; limit *= 2 {
		r := bashCall(t, h, fields{"command": command, "timeout_ms": limit})
		silent := slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(r.Stdout+r.Stderr, want) })
		if !silent || limit > int(patience.Milliseconds()) {
			return r
		}
	}
}

// graceFor is the grace of commands that a test ends: long where they heed the signal, since a slow machine takes a while,
// and short where it has to be waited for.
func graceFor(runaway string) fields {
	if strings.HasPrefix(runaway, "ignores") {
		return fields{"kill_grace_ms": 1500}
	}
	return fields{"kill_grace_ms": 4000}
}

// SO-02, SO-03, SO-12
func TestNothingIsLeftAfterATimeout(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			h := marked(t, graceFor(c.name))
			r := timedOut(t, h, c.script+"echo one; echo two >&2; sleep 1000", "one\n", "two\n")
			require.Empty(t, survivors(t))
			require.Nil(t, r.Result)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, r.Err.GetCategory())
			require.Contains(t, r.Stdout, "one\n")
			require.Equal(t, "two\n", r.Stderr)
			details := r.Err.GetDetails().AsMap()
			require.Contains(t, details["output"], "one\n")
			require.Equal(t, true, details["timed_out"])
			require.Equal(t, "SIGTERM", details["signal"])
			require.Contains(t, r.Err.GetMessage(), "timeout_ms (at most 600000)")
		})
	}
}

// SO-04
func TestNothingIsLeftAfterACancel(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			h := marked(t, graceFor(c.name))
			r := cancelAt(t, h, c.script+"echo two; sleep 1000", "up\n", "two\n")
			require.Empty(t, survivors(t))
			require.Nil(t, r.Result)
			require.Nil(t, r.Err)
			want := "process received SIGTERM; output above is valid"
			if strings.HasPrefix(c.name, "ignores") {
				want = "process received SIGTERM and, after 1.5s, SIGKILL; output above is valid"
			}
			require.Equal(t, want, r.Report.GetMessage())
		})
	}
}

// What has process ids of its own is seen from outside; one that always has a new one is not outrun.
func TestNothingIsLeftOfOddOnes(t *testing.T) {
	for _, c := range []struct{ name, needs, script string }{
		{"namespace of processes", "unshare -Urpf true", `setsid unshare -Urpf sh -c 'trap "" TERM; echo up; sleep 1000 & wait' & `},
		{"traced", "strace -o /dev/null true", `strace -f -o /dev/null sh -c 'echo up; sleep 1000' & `},
		{"goes on as its child", "true", `cat >r <<'E'
trap '' TERM HUP
test $1 -lt 3000 && sleep 0.002 && setsid sh r $(($1+1)) </dev/null >/dev/null 2>&1 &
E
sh r 0; echo up; `},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := marked(t, fields{"kill_grace_ms": 300})
			if exitOf(t, run(t, h, c.needs)).GetExitCode() != 0 {
				t.Skip("not to be had here: ", c.needs)
			}
			require.Contains(t, run(t, h, c.script+"sleep 0.1; echo ready").Stdout, "ready\n")
			require.Empty(t, survivors(t))
			r := cancelAt(t, h, c.script+"sleep 1000", "up\n")
			require.Contains(t, r.Report.GetMessage(), "output above is valid")
			require.Empty(t, survivors(t))
		})
	}
}

// SO-03
func TestTimeoutEndsAPipeline(t *testing.T) {
	h := marked(t, nil)
	r := timedOut(t, h, "mkfifo p; (while :; do echo c; sleep 0.1; done) > p & cat p", "c\n")
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, r.Err.GetCategory())
	require.Contains(t, r.Stdout, "c\n")
	require.Empty(t, survivors(t))
}

func TestOutputAfterTheSignalIsKept(t *testing.T) {
	const command = `trap 'echo cleaning up; sleep 0.1; echo clean; exit 5' TERM; echo up; while :; do sleep 0.01; done`
	t.Run("cancel", func(t *testing.T) {
		r := cancelAt(t, start(t, fields{"kill_grace_ms": 4000}), command, "up\n")
		require.Equal(t, "process received SIGTERM; output above is valid", r.Report.GetMessage())
		require.Regexp(t, `(?s)cleaning up\n.*clean\n$`, r.Report.GetDetails().AsMap()["output"])
	})
	t.Run("timeout", func(t *testing.T) {
		r := timedOut(t, start(t, fields{"kill_grace_ms": 4000}), command, "up\n")
		require.Regexp(t, `(?s)^up\n.*cleaning up\n.*clean\n$`, r.Stdout)
		require.EqualValues(t, 5, exitOf(t, r).GetExitCode())
		require.EqualValues(t, 5, r.Err.GetDetails().AsMap()["exit_code"])
		require.Equal(t, "error", sequence(r)[len(sequence(r))-1])
	})
}

// SO-12: what was printed before a cancellation and did not arrive is in a file.
func TestCancelledOutputIsKept(t *testing.T) {
	h := start(t, nil)
	r := cancelAt(t, h, "seq 200000; sleep 1000", "\n50000\n")
	note := regexp.MustCompile(`output above is valid; all (\d+) bytes are in (/.*)$`).FindStringSubmatch(r.Report.GetMessage())
	require.NotNil(t, note, r.Report.GetMessage())
	kept, err := os.ReadFile(note[2])
	require.NoError(t, err)
	require.Equal(t, note[1], strconv.Itoa(len(kept)))
	require.True(t, strings.HasPrefix(string(kept), r.Stdout), "it goes on where the stream was cut")
}

// SO-15
func TestCancelRacesWithTheEnd(t *testing.T) {
	b := launch(t, "", nil)
	completed := 0
	for i := range *calls / 3 {
		ctx, cancel := context.WithCancel(t.Context())
		stream := b.invoke(ctx, "sleep 0.01; echo x", nil)
		time.AfterFunc(time.Duration(10+i%20)*time.Millisecond, cancel)
		o := collect(stream)
		cancel()
		if !errors.Is(o.err, io.EOF) {
			require.ErrorContains(t, o.err, "context canceled")
			continue
		}
		completed++
		require.Equal(t, "x\n", o.stdout)
		require.NotNil(t, o.last().GetResult(), o.last())
		require.Zero(t, o.last().GetResult().GetPayload().AsMap()["exit_code"])
	}
	t.Logf("%d completed", completed)
	require.Equal(t, "still fine\n", collect(b.invoke(t.Context(), "echo still fine", nil)).stdout)
	requireNoSurvivors(t)
}

func TestIdleTimeout(t *testing.T) {
	const all = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	var r *sdktest.Result
	for limit := time.Second; r == nil || r.Stdout != all && limit < patience; limit *= 2 { // a slow machine is silent for longer
		h := marked(t, fields{"idle_timeout_ms": limit.Milliseconds()})
		r = bashCall(t, h, fields{"command": "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.15; done; sleep 1000"})
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, r.Err.GetCategory())
		require.Contains(t, r.Err.GetMessage(), "printed nothing for "+limit.String())
	}
	require.Equal(t, all, r.Stdout)
	require.Empty(t, survivors(t))
}

func TestLostKeeper(t *testing.T) {
	h := marked(t, nil)
	ctx := t.Context()
	r := h.Watch(ctx, h.Dir, "bash", fields{"command": "setsid sleep 1000 & echo $PPID; sleep 1000"}, func(e *toolv1.ToolEvent) {
		if data := e.GetOutputChunk().GetData(); len(data) > 0 {
			keeper, err := strconv.Atoi(string(bytes.TrimSpace(data)))
			require.NoError(t, err)
			process, err := os.FindProcess(keeper)
			require.NoError(t, err)
			require.NoError(t, process.Kill())
		}
	})
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, r.Err.GetCategory())
	require.Contains(t, r.Err.GetMessage(), "the command was lost")
	require.Empty(t, survivors(t))
	require.Equal(t, "next\n", run(t, h, "echo next").Stdout)
}
