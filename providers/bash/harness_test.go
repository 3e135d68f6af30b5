//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

var (
	update     = flag.Bool("update", false, "rewrite the golden files")
	binaryPath = flag.String("provider", "", "the provider's binary, if it is not to be built")
	exits      = flag.Int("exits", 300, "how many commands that print and end at once")
	flood      = flag.Int("flood", 64, "how many MiB BenchmarkPrint prints")
	stall      = flag.Duration("stall", 2*time.Second, "how long a reader reads nothing at least")
	calls      = flag.Int("calls", 300, "how many calls after which nothing may be left")
)

// TestMain is a kernel to be killed when a test starts it as one.
func TestMain(m *testing.M) {
	if script := os.Getenv(kernelVariable); script != "" {
		beKernel(script)
	}
	goleak.VerifyTestMain(tests{m})
}

// tests have the provider's real binary.
type tests struct{ *testing.M }

func (t tests) Run() int {
	flag.Parse()
	// A provider with the race detector would sleep before it exits, for longer than it is given.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	if *binaryPath != "" {
		return t.M.Run()
	}
	dir, err := os.MkdirTemp("", "provider")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		*binaryPath, err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.M.Run()
}

type fields = map[string]any

// start runs a provider, its real binary, whose only root is the harness's directory.
func start(t testing.TB, extra fields) *sdktest.Harness {
	t.Helper()
	return startWith(t, extra, func(c fields) *sdktest.Harness {
		return sdktest.StartProcess(t, exec.Command(*binaryPath), c)
	})
}

// startInside is start without a process, for tests that count what is in it.
func startInside(t testing.TB, extra fields) *sdktest.Harness {
	t.Helper()
	return startWith(t, extra, func(c fields) *sdktest.Harness { return sdktest.Start(t, provider(), c) })
}

func startWith(t testing.TB, extra fields, start func(fields) *sdktest.Harness) *sdktest.Harness {
	t.Helper()
	root := t.TempDir()             // before, so that it is not in there
	t.Setenv("TMPDIR", shortDir(t)) // where output is kept
	c := fields{"allowed_roots": []any{root}}
	for name, value := range extra {
		c[name] = value
	}
	h := start(c)
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
