package conformance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/conformance/client"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The worked sequences of the protocol's founding document of a tool, event by event, against the real binary.

// module is a Go module in which one package passes and one fails, and says so on standard error too.
func module(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":          "module example.com/agent\n\ngo 1.26.0\n",
		"foo/foo.go":      "package foo\n",
		"foo/foo_test.go": "package foo\n\nimport \"testing\"\n\nfunc TestFoo(t *testing.T) {}\n",
		"bar/bar.go":      "package bar\n",
		"bar/bar_test.go": "package bar\n\nimport \"testing\"\n\nfunc TestBar(t *testing.T) { t.Fail() }\n",
	})
	return dir
}

func bash(t *testing.T, dir string) *client.Provider {
	t.Helper()
	p := launch(t, "bash", dir)
	_, err := p.Tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, map[string]any{
		"allowed_roots": []any{dir}, "env": map[string]any{"CGO_ENABLED": "0"},
	})})
	require.NoError(t, err)
	return p
}

// shape names the events with runs of output of one stream drawn together: how many chunks the system made of the
// output is its own affair.
func shape(events []*toolv1.ToolEvent) (out []string) {
	for _, e := range events {
		var name string
		switch {
		case e.GetProgress() != nil:
			name = "progress: " + e.GetProgress().GetMessage()
		case e.GetOutputChunk() != nil:
			name = "output " + strings.TrimPrefix(e.GetOutputChunk().GetStream().String(), "OUTPUT_STREAM_")
		case e.GetPartialResult() != nil:
			name = "partial_result"
		case e.GetExitStatus() != nil:
			name = fmt.Sprintf("exit_status %d", e.GetExitStatus().GetExitCode())
		case e.GetResult() != nil:
			name = "result"
		case e.GetError() != nil:
			name = "error " + e.GetError().GetMessage()
		}
		if len(out) == 0 || out[len(out)-1] != name || !strings.HasPrefix(name, "output") {
			out = append(out, name)
		}
	}
	return out
}

func output(events []*toolv1.ToolEvent, stream toolv1.OutputStream) string {
	var b strings.Builder
	for _, e := range events {
		if e.GetOutputChunk().GetStream() == stream {
			b.Write(e.GetOutputChunk().GetData())
		}
	}
	return b.String()
}

func TestSeedToolRunsATestSuite(t *testing.T) {
	dir := module(t)
	p := bash(t, dir)
	stream, err := p.Tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
		Id: "tc_42", ToolName: "bash", CallContext: where(dir),
		Arguments: object(t, map[string]any{"command": "go test ./... && exit; code=$?; echo '--- FAIL: TestBar (0.00s)' >&2; exit $code"}),
	}})
	require.NoError(t, err)
	var events []*toolv1.ToolEvent
	require.NoError(t, collect(stream, func(r *toolv1.InvokeResponse) { events = append(events, r.GetEvent()) }))

	require.Equal(t, []string{"progress: starting process", "output STDOUT", "output STDERR", "exit_status 1", "result"}, shape(events))
	stdout := output(events, toolv1.OutputStream_OUTPUT_STREAM_STDOUT)
	require.Regexp(t, `(?m)^ok  \texample\.com/agent/foo\t`, stdout)
	require.Regexp(t, `(?m)^FAIL\texample\.com/agent/bar\t`, stdout)
	require.NotContains(t, stdout, "\r")
	require.Equal(t, "--- FAIL: TestBar (0.00s)\n", output(events, toolv1.OutputStream_OUTPUT_STREAM_STDERR))
	require.Nil(t, events[len(events)-2].GetExitStatus().Signal)
	payload := events[len(events)-1].GetResult().GetPayload().AsMap()
	require.EqualValues(t, 1, payload["exit_code"])
	require.Equal(t, "1 package failed", payload["summary"])
}

func TestSeedToolCancelledReportsWhatHappened(t *testing.T) {
	dir := t.TempDir()
	p := bash(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := p.Tools.Invoke(ctx, &toolv1.InvokeRequest{Call: &toolv1.ToolCall{
		Id: "tc_43", ToolName: "bash", CallContext: where(dir),
		Arguments: object(t, map[string]any{
			"command": `trap 'printf "ok  \tgithub.com/pluggableharness/agent/foo\t0.4s\n"; exit' TERM; echo running; while :; do :; done`,
		}),
	}})
	require.NoError(t, err)
	var events []*toolv1.ToolEvent
	err = collect(stream, func(r *toolv1.InvokeResponse) {
		if events = append(events, r.GetEvent()); r.GetEvent().GetOutputChunk() != nil {
			cancel()
		}
	})
	require.Equal(t, codes.Canceled, status.Code(err))
	require.Equal(t, []string{"progress: starting process", "output STDOUT"}, shape(events))

	// The rest of the sequence cannot come on a stream that its client has cancelled; it comes as a report.
	report := reported(t, p, "tc_43")
	require.Equal(t, "process received SIGTERM; output above is valid", report.GetMessage())
	require.Equal(t, map[string]any{
		"output":         "ok  \tgithub.com/pluggableharness/agent/foo\t0.4s\n",
		"partial_result": map[string]any{"note": "process received SIGTERM; output above is valid"},
	}, report.GetDetails().AsMap())
}
