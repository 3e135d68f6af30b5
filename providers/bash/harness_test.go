//go:build linux

package main

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/sdktest"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	exits  = flag.Int("exits", 300, "how many commands that print and end at once")
	flood  = flag.Int("flood", 64, "how many MiB BenchmarkPrint prints")
	calls  = flag.Int("calls", 300, "how many calls after which nothing may be left")
)

// TestMain is the provider itself when a kernel starts it, see launch, or a kernel to be
// killed.
func TestMain(m *testing.M) {
	if os.Getenv(plugin.MagicCookieKey) == plugin.MagicCookieValue {
		main()
	}
	if script := os.Getenv(kernelVariable); script != "" {
		beKernel(script)
	}
	goleak.VerifyTestMain(m)
}

type fields = map[string]any

// start configures a provider whose only root is the harness's directory.
func start(t testing.TB, extra fields) *sdktest.Harness {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir()) // where output is kept
	root := t.TempDir()
	c := fields{"allowed_roots": []any{root}}
	for name, value := range extra {
		c[name] = value
	}
	h := sdktest.Start(t, provider(), c)
	h.Dir = root
	return h
}

func bashCall(t testing.TB, h *sdktest.Harness, arguments fields) *sdktest.Result {
	t.Helper()
	return h.Call(t.Context(), "bash", arguments)
}

// run runs a command that must come to a result.
func run(t testing.TB, h *sdktest.Harness, command string) *sdktest.Result {
	t.Helper()
	r := bashCall(t, h, fields{"command": command, "timeout_ms": 60_000})
	require.Nil(t, r.Err, "%v", r.Err)
	require.NotNil(t, r.Result)
	return r
}

// sequence names the events of a call, output of one stream in a row as one.
func sequence(r *sdktest.Result) []string {
	var names []string
	for _, event := range r.Events {
		name := ""
		switch e := event.GetEvent().(type) {
		case *toolv1.ToolEvent_Progress_:
			name = "progress: " + e.Progress.GetMessage()
		case *toolv1.ToolEvent_OutputChunk_:
			name = strings.ToLower(strings.TrimPrefix(e.OutputChunk.GetStream().String(), "OUTPUT_STREAM_"))
		case *toolv1.ToolEvent_ExitStatus_:
			name = "exit_status"
		case *toolv1.ToolEvent_PartialResult_:
			name = "partial_result"
		case *toolv1.ToolEvent_Result:
			name = "result"
		case *toolv1.ToolEvent_Error:
			name = "error"
		}
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

func exitOf(t testing.TB, r *sdktest.Result) *toolv1.ToolEvent_ExitStatus {
	t.Helper()
	for _, event := range r.Events {
		if e := event.GetExitStatus(); e != nil {
			return e
		}
	}
	require.Fail(t, "no exit_status")
	return nil
}

// cancelAt runs a command and cancels the call once its output contains every mark.
func cancelAt(t testing.TB, h *sdktest.Harness, command string, marks ...string) *sdktest.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := ""
	return h.Watch(ctx, h.Dir, "bash", fields{"command": command}, func(e *toolv1.ToolEvent) {
		seen += string(e.GetOutputChunk().GetData())
		if !slices.ContainsFunc(marks, func(mark string) bool { return !strings.Contains(seen, mark) }) {
			cancel()
		}
	})
}
