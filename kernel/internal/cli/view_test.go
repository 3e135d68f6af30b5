package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// onFiles is an app whose stdout and stderr are files; said reads the latter.
func onFiles(t *testing.T) (a *app, said func() string) {
	t.Helper()
	create := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, f.Close()) })
		return f
	}
	stderr := create("stderr")
	a = &app{ctx: t.Context(), display: newDisplay(create("stdout"), stderr, func(error) {})}
	a.logLevel.Set(slog.LevelWarn)
	return a, func() string {
		text, err := os.ReadFile(stderr.Name())
		require.NoError(t, err)
		return string(text)
	}
}

func TestFailureSaysThingsOnce(t *testing.T) {
	note := &structpb.Struct{Fields: map[string]*structpb.Value{"note": structpb.NewStringValue("half is done")}}
	partial := &toolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{Payload: note}}}
	tests := []struct {
		name    string
		events  []*toolEvent
		message string
		report  *engine.Report
		want    string
	}{
		{"note before", []*toolEvent{partial}, "too late: half is done", &engine.Report{Note: "half is done"}, "half is done\nerror: timeout: too late\n"},
		{"note in the message", nil, "too late: half is done", &engine.Report{Note: "half is done"}, "error: timeout: too late: half is done\n"},
		{"note in the report alone", nil, "too late", &engine.Report{Note: "half is done"}, "error: timeout: too late\nhalf is done\n"},
		{"another note before", []*toolEvent{partial}, "too late", &engine.Report{Note: "all is done"}, "half is done\nerror: timeout: too late\nall is done\n"},
		{"no report", nil, "too late", nil, "error: timeout: too late\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, said := onFiles(t)
			v := newHumanView(a, nil, engine.Operation{}, false)
			for _, e := range tt.events {
				v.event(e)
			}
			v.outcome(engine.Outcome{Status: engine.Failed, Report: tt.report, Error: &toolv1.ToolError{
				Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, Message: tt.message}})
			require.Equal(t, tt.want, said())
		})
	}
}

// A command that failed is a result like any other, and many a provider renders its result without the exit code.
func TestExitStatusIsTold(t *testing.T) {
	signal := "SIGTERM"
	for _, tt := range []struct {
		name  string
		end   *toolv1.ToolEvent_ExitStatus
		shown string
		label string
		want  string
	}{
		{"no process", nil, "done", "", ""},
		{"success", &toolv1.ToolEvent_ExitStatus{}, "done", "", ""},
		{"not told", &toolv1.ToolEvent_ExitStatus{ExitCode: 3}, "done", "", "exit code 3\n"},
		{"not told, of several", &toolv1.ToolEvent_ExitStatus{ExitCode: 3}, "done", "tests", "tests: exit code 3\n"},
		{"told", &toolv1.ToolEvent_ExitStatus{ExitCode: 3}, "exit code 3 after 2ms", "", ""},
		{"another told", &toolv1.ToolEvent_ExitStatus{ExitCode: 3}, "exit code 33", "", "exit code 3\n"},
		{"signal", &toolv1.ToolEvent_ExitStatus{ExitCode: 143, Signal: &signal}, "done", "", "ended by SIGTERM\n"},
		{"signal told", &toolv1.ToolEvent_ExitStatus{ExitCode: 143, Signal: &signal}, "killed by SIGTERM", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, said := onFiles(t)
			v := newHumanView(a, nil, engine.Operation{}, false)
			v.label = tt.label
			v.ended(engine.Outcome{Status: engine.Completed, ExitStatus: tt.end}, tt.shown)
			require.Equal(t, tt.want, said())
		})
	}
}

func TestStackOfAPanic(t *testing.T) {
	details, err := structpb.NewStruct(map[string]any{"stack": "goroutine 1\nmain.go:7\n"})
	require.NoError(t, err)
	failed := engine.Outcome{Status: engine.Failed, Error: &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, Message: "it panicked", Details: details}}
	for level, want := range map[slog.Level]string{
		slog.LevelWarn:  "error: unknown: it panicked\n--log-level debug shows where\n",
		slog.LevelDebug: "error: unknown: it panicked\n  goroutine 1\n  main.go:7\n",
	} {
		a, said := onFiles(t)
		a.logLevel.Set(level)
		newHumanView(a, nil, engine.Operation{}, false).outcome(failed)
		require.Equal(t, want, said())
	}
}

func TestKillSilencesTheLog(t *testing.T) {
	for _, level := range []string{"", "debug"} {
		a, said := onFiles(t)
		log, err := a.logger(level)
		require.NoError(t, err)
		killed := false
		a.kill.set(func() { killed = true })
		a.killAll()
		log.Log(context.Background(), slog.LevelError, "the provider ended")
		require.True(t, killed)
		require.Contains(t, said(), "killing\n")
		require.Equal(t, level == "debug", len(said()) > len("killing\n"))
	}
}
