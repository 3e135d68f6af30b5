//go:build linux

package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

const (
	failed  = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED
	timeout = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT
)

// tool makes a call that must come to a result.
func tool(t testing.TB, h *sdktest.Harness, name string, arguments fields) fields {
	t.Helper()
	r := h.Call(t.Context(), name, arguments)
	require.Nil(t, r.Err, "%v", r.Err)
	require.NotNil(t, r.Result, "%v", r.Status)
	return r.Result
}

// backgrounded starts a command and returns its id.
func backgrounded(t testing.TB, h *sdktest.Harness, command string) string {
	t.Helper()
	return tool(t, h, "bash", fields{"command": command, "background": true})["session_id"].(string)
}

// printed waits until a background process has printed want, and returns all until then.
func printed(t testing.TB, h *sdktest.Harness, id, want string) string {
	t.Helper()
	all, offset := "", 0.0
	for !strings.Contains(all, want) {
		out := tool(t, h, "process_output", fields{"id": id, "offset": offset, "wait_ms": patience.Milliseconds()})
		require.NotEqual(t, offset, out["next_offset"], "no %q in %q: %v", want, all, out["state"])
		all, offset = all+out["output"].(string), out["next_offset"].(float64)
	}
	return all
}

// ended waits for the end of a background process.
func ended(t testing.TB, h *sdktest.Harness, id string) fields {
	t.Helper()
	for offset := 0.0; ; {
		out := tool(t, h, "process_output", fields{"id": id, "offset": offset, "wait_ms": patience.Milliseconds()})
		if out["state"] != "running" {
			return out
		}
		offset = out["next_offset"].(float64)
	}
}

func typed(t testing.TB, h *sdktest.Harness, id, data string) {
	t.Helper()
	require.EqualValues(t, len(data), tool(t, h, "process_input", fields{"id": id, "data": data})["typed_bytes"])
}

// soon starts something in the background until its output is there within the fifth of a second that its call waits for
// it, which a slow machine seldom manages.
func soon(t *testing.T, start func() (*sdktest.Result, bool)) *sdktest.Result {
	t.Helper()
	for range 200 {
		if r, there := start(); there {
			return r
		}
	}
	require.Fail(t, "its output never comes with the result")
	return nil
}

func TestBackground(t *testing.T) {
	var h *sdktest.Harness
	r := soon(t, func() (*sdktest.Result, bool) {
		h = marked(t, nil)
		r := bashCall(t, h, fields{"command": "echo first; read go; echo second >&2; exit 3", "background": true, "description": "Wait"})
		return r, r.Stdout != ""
	})
	require.Equal(t, []string{"progress: starting process", "stdout", "result"}, sequence(r))
	id := r.Result["session_id"].(string)
	require.Equal(t, "first\n", r.Result["output"])
	require.NotContains(t, r.Result, "exit_code", "it is not over") // SO-13
	require.Equal(t, "running in the background as "+id, r.Result["summary"])

	list := tool(t, h, "process_list", nil)["processes"].([]any)
	require.Len(t, list, 1)
	about := list[0].(fields)
	require.Equal(t, id, about["id"])
	require.Equal(t, "running", about["state"])
	require.Equal(t, "Wait", about["description"])
	require.Equal(t, h.Dir, about["cwd"])
	require.Len(t, survivors(t), 1)

	out := tool(t, h, "process_output", fields{"id": id, "offset": 2})
	require.Equal(t, "rst\n", out["output"])
	require.EqualValues(t, 6, out["next_offset"])
	typed(t, h, id, "go\n")
	out = ended(t, h, id)
	require.Equal(t, "exited", out["state"])
	require.EqualValues(t, 3, out["exit_code"])
	require.Equal(t, "second", out["summary"])
	out = tool(t, h, "process_output", fields{"id": id, "offset": -7})
	require.Equal(t, "second\n", out["output"])
	require.Empty(t, survivors(t))
}

func TestBackgroundThatEndsAtOnce(t *testing.T) {
	h := start(t, nil)
	r := soon(t, func() (*sdktest.Result, bool) {
		r := bashCall(t, h, fields{"command": "echo done; exit 4", "background": true})
		return r, r.Result["exit_code"] != nil
	})
	require.Equal(t, []string{"progress: starting process", "stdout", "exit_status", "result"}, sequence(r))
	require.EqualValues(t, 4, r.Result["exit_code"])
	require.Equal(t, "done\n", tool(t, h, "process_output", fields{"id": r.Result["session_id"]})["output"])
}

// SO-16
func TestStates(t *testing.T) {
	h := marked(t, nil)
	for _, c := range []struct {
		name, command, signal string
		state, died           string
		code                  int
	}{
		{"stopped", "echo up; sleep 300", "SIGTERM", "stopped", "SIGTERM", 143},
		{"stopped, in other words", "echo up; sleep 300", "term", "stopped", "SIGTERM", 143},
		{"stopped by number", "echo up; sleep 300", "9", "stopped", "SIGKILL", 137},
		{"stopped, and cleaned up first", "trap 'exit 0' TERM; sleep 300 & echo up; wait", "", "stopped", "", 0},
		{"stubborn", "trap '' TERM INT; echo up; sleep 300", "SIGKILL", "stopped", "SIGKILL", 137},
		{"interrupted", "echo up; sleep 300", "SIGINT", "stopped", "SIGINT", 130},
		{"interrupted, and went on to its end", "trap 'kill %1; exit 5' INT; sleep 300 & echo up; wait", "INT", "exited", "", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := backgrounded(t, h, c.command)
			printed(t, h, id, "up\n")
			arguments := fields{"id": id}
			if c.signal != "" {
				arguments["signal"] = c.signal
			}
			tool(t, h, "process_signal", arguments)
			out := ended(t, h, id)
			require.Equal(t, c.state, out["state"])
			require.EqualValues(t, c.code, out["exit_code"])
			if c.died != "" {
				require.Equal(t, c.died, out["signal"])
			}
			r := h.Call(t.Context(), "process_signal", fields{"id": id})
			require.Equal(t, failed, r.Err.GetCategory(), "nobody is there")
		})
	}
	t.Run("killed by somebody else", func(t *testing.T) {
		out := ended(t, h, backgrounded(t, h, "kill -SEGV $$"))
		require.Equal(t, "killed", out["state"])
		require.Equal(t, "SIGSEGV", out["signal"])
	})
	t.Run("its own limit", func(t *testing.T) {
		r := bashCall(t, h, fields{"command": "sleep 300", "background": true, "timeout_ms": 500})
		require.Equal(t, "timed_out", ended(t, h, r.Result["session_id"].(string))["state"])
	})
	require.Empty(t, survivors(t))
}

func TestSignalThatEndsNothing(t *testing.T) {
	h := start(t, nil)
	id := backgrounded(t, h, "trap 'echo reloaded' HUP; echo up; while :; do read -t 0.01 x; done")
	printed(t, h, id, "up\n")
	require.Equal(t, "running", tool(t, h, "process_signal", fields{"id": id, "signal": "SIGHUP"})["state"])
	printed(t, h, id, "reloaded\n")
}

func TestProcessArgumentsThatAreRefused(t *testing.T) {
	h := start(t, fields{"max_timeout_ms": 60_000, "default_timeout_ms": 1000})
	id := backgrounded(t, h, "echo 12345; sleep 1000")
	printed(t, h, id, "12345\n")
	for _, c := range []struct {
		name, tool string
		arguments  fields
		category   toolv1.ToolErrorCategory
		message    string
	}{
		{"unknown process", "process_output", fields{"id": "bg-none"}, notFound, id},
		{"unknown process to signal", "process_signal", fields{"id": "bg-none"}, notFound, id},
		{"offset beyond the end", "process_output", fields{"id": id, "offset": 7}, invalid, "6 bytes"},
		{"wait too long", "process_output", fields{"id": id, "wait_ms": 60_001}, invalid, "max_timeout_ms"},
		{"negative wait", "process_output", fields{"id": id, "wait_ms": -1}, invalid, "wait_ms"},
		{"unknown signal", "process_signal", fields{"id": id, "signal": "SIGNAL"}, invalid, "SIGNAL"},
		{"signal 0", "process_signal", fields{"id": id, "signal": "0"}, invalid, `"0"`},
		{"both ways", "bash", fields{"command": "true", "background": true, "on_timeout": "background"}, invalid, "on_timeout"},
		{"unknown way", "bash", fields{"command": "true", "on_timeout": "explode"}, invalid, "on_timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := h.Call(t.Context(), c.tool, c.arguments)
			require.Equal(t, c.category, r.Err.GetCategory(), r.Err.GetMessage())
			require.Contains(t, r.Err.GetMessage(), c.message)
			_, err := h.Preview(t.Context(), c.tool, c.arguments)
			require.Equal(t, c.category, sdktest.ToolError(err).GetCategory(), "the preview checks the same")
		})
	}
}

func TestMovedToTheBackground(t *testing.T) {
	var h *sdktest.Harness
	var r *sdktest.Result
	for limit := time.Second; r == nil || r.Stdout == "" && limit < patience; limit *= 2 { // a slow machine gets longer to print
		h = marked(t, nil)
		r = bashCall(t, h, fields{
			"command":    "echo one; until test -e go; do sleep 0.01; done; echo two; exit 5",
			"timeout_ms": limit.Milliseconds(), "on_timeout": "background",
		})
	}
	require.Equal(t, "one\n", r.Stdout)
	require.Equal(t, true, r.Result["timed_out"])
	require.NotContains(t, r.Result, "exit_code")
	id := r.Result["session_id"].(string)
	require.NotEmpty(t, survivors(t))
	require.NoError(t, os.WriteFile(h.Dir+"/go", nil, 0o600))
	require.Equal(t, "one\ntwo\n", printed(t, h, id, "two\n"))
	require.EqualValues(t, 5, ended(t, h, id)["exit_code"])

	t.Run("in time", func(t *testing.T) {
		r := bashCall(t, h, fields{"command": "echo quick; cat; exit 6", "on_timeout": "background"})
		require.Equal(t, []string{"progress: starting process", "stdout", "exit_status", "result"}, sequence(r))
		require.EqualValues(t, 6, r.Result["exit_code"])
		require.NotContains(t, r.Result, "session_id")
		require.Len(t, tool(t, h, "process_list", nil)["processes"], 1, "only the other one")
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := h.Watch(ctx, h.Dir, "bash", fields{"command": "echo up; sleep 1000", "on_timeout": "background"}, func(e *toolv1.ToolEvent) {
			if e.GetOutputChunk() != nil {
				cancel()
			}
		})
		require.Equal(t, "process received SIGTERM; output above is valid", r.Report.GetMessage())
		require.Empty(t, survivors(t))
	})
}

func TestBackgroundIsLimited(t *testing.T) {
	h := start(t, fields{"max_background": 2})
	first := backgrounded(t, h, "sleep 1000")
	backgrounded(t, h, "sleep 1000")
	for _, arguments := range []fields{
		{"command": "touch made", "background": true},
		{"command": "touch made", "on_timeout": "background"},
	} {
		r := bashCall(t, h, arguments)
		require.Equal(t, failed, r.Err.GetCategory())
		require.Contains(t, r.Err.GetMessage(), "max_background")
	}
	require.NoFileExists(t, h.Dir+"/made")
	require.Equal(t, "fine\n", run(t, h, "echo fine").Stdout, "the foreground is not counted")
	tool(t, h, "process_signal", fields{"id": first})
	ended(t, h, first)
	backgrounded(t, h, "sleep 1000")

	none := start(t, fields{"max_background": 0})
	r := bashCall(t, none, fields{"command": "true", "background": true})
	require.Equal(t, denied, r.Err.GetCategory())
}

func TestEndedProcessesAreForgotten(t *testing.T) {
	h := start(t, nil)
	first := backgrounded(t, h, "true")
	var last string
	for range 20 {
		last = backgrounded(t, h, "true")
		ended(t, h, last)
	}
	list := tool(t, h, "process_list", nil)["processes"].([]any)
	require.Len(t, list, 16)
	require.Equal(t, last, list[15].(fields)["id"])
	require.Equal(t, notFound, h.Call(t.Context(), "process_output", fields{"id": first}).Err.GetCategory())
}

// More than a result carries comes in pieces, with no byte twice and none left out.
func TestMuchBackgroundOutput(t *testing.T) {
	h := start(t, fields{"max_result_bytes": 1000})
	id := backgrounded(t, h, "for i in $(seq 3000); do echo ─$i; done")
	all, offset := "", 0.0
	for {
		out := tool(t, h, "process_output", fields{"id": id, "offset": offset, "wait_ms": patience.Milliseconds()})
		require.Equal(t, offset, out["offset"])
		require.LessOrEqual(t, len(out["output"].(string)), 1000)
		all, offset = all+out["output"].(string), out["next_offset"].(float64)
		if out["state"] != "running" && offset == out["output_bytes"] {
			kept, err := os.ReadFile(out["output_path"].(string))
			require.NoError(t, err)
			require.Equal(t, string(kept), all)
			break
		}
	}
	require.NotContains(t, all, "\uFFFD")
	require.Equal(t, 3000, strings.Count(all, "─"))
	require.True(t, strings.HasSuffix(all, "─3000\n"))
}

// SO-19: a character that comes in two writes is one.
func TestSplitCharacterInTheBackground(t *testing.T) {
	h := start(t, nil)
	id := backgrounded(t, h, `printf 'pre \xe2'; read go; printf '\x94\x80 post\n'; printf 'end \xe2'`)
	require.Equal(t, "pre ", printed(t, h, id, "pre "))
	typed(t, h, id, "\n")
	ended(t, h, id)
	require.Equal(t, "pre ─ post\nend \uFFFD", tool(t, h, "process_output", fields{"id": id})["output"])
}

func TestWaitThatIsCancelled(t *testing.T) {
	h := start(t, nil)
	id := backgrounded(t, h, "sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := h.Watch(ctx, h.Dir, "process_output", fields{"id": id, "wait_ms": 60_000}, func(*toolv1.ToolEvent) { cancel() })
	require.Equal(t, []string{"progress: waiting for " + id}, sequence(r))
	require.Equal(t, "nothing was taken: the same offset gives the same output again", r.Report.GetMessage())
	require.Equal(t, "running", tool(t, h, "process_output", fields{"id": id})["state"], "only the wait was cancelled")
}

func TestBackgroundWithoutTerminals(t *testing.T) {
	h := start(t, fields{"pty": false})
	id := backgrounded(t, h, `test -t 1 || echo pipe; cat; echo over`)
	require.Equal(t, "pipe\nover\n", printed(t, h, id, "over\n"))
}
