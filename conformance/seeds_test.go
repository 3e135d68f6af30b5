package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/fixture/fault"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The worked sequences of the protocol's two founding documents, event by event, against the real binaries.

// binaries is the folder the providers are built into.
var binaries string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == actAsFixture {
		os.Exit(fault.Main(os.Args[2:]))
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	binaries = dir
	for _, name := range []string{"bash", "filesystem", "release-tools"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "provider-"+name), ".")
		build.Dir = filepath.Join("..", "providers", name)
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build provider-%s: %w\n%s", name, err, out)
		}
	}
	return m.Run(), nil
}

const (
	sessionID = "01J9Z3QK4T8V6W2X5Y7A9B1C3D"
	turnID    = "01J9Z3QK5B0F2G4H6J8K0M2N4P"
)

func launch(t *testing.T, name, dir string) *client.Provider {
	t.Helper()
	p, err := client.Launch(t.Context(), client.Options{Path: filepath.Join(binaries, "provider-"+name), Dir: dir, Stderr: os.Stderr})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func object(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func where(dir string) *commonv1.CallContext {
	return &commonv1.CallContext{SessionId: sessionID, TurnId: turnID, WorkingDirectory: dir}
}

// collect reads a stream to its end.
func collect[R any](stream grpc.ServerStreamingClient[R], see func(*R)) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		see(r)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

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

// reported waits for the report of a cancelled call.
func reported(t *testing.T, p *client.Provider, callID string) *toolv1.ToolError {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	event, err := p.Callbacks.Report(ctx, callID)
	require.NoError(t, err)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, event.GetError().GetCategory())
	return event.GetError()
}

const changelog = `# Changelog

## [Unreleased]

- Add slashcommand.v1 category

## [1.3.0] - 2026-09-14

- Add render.v1
`

// longChangelog is changelog with many years behind it: writing it takes long enough to be cancelled in.
var longChangelog = changelog + strings.Repeat("- One of many entries of a long history\n", 100_000)

// repository is a git repository with the changelog of the founding document, at version 1.3.0.
func repository(t *testing.T, changelog string) string {
	dir := t.TempDir()
	write(t, dir, map[string]string{"CHANGELOG.md": changelog})
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "config", "user.name", "Ada Example")
	git(t, dir, "config", "user.email", "ada@example.com")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "--message=Start")
	git(t, dir, "tag", "--annotate", "--message=v1.3.0", "v1.3.0")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func releaseTools(t *testing.T, dir string) *client.Provider {
	t.Helper()
	p := launch(t, "release-tools", dir)
	_, err := p.Commands.Configure(t.Context(), &slashcommandv1.ConfigureRequest{Config: object(t, map[string]any{"changelog_path": "CHANGELOG.md"})})
	require.NoError(t, err)
	return p
}

func TestSeedCommandDeclaresItself(t *testing.T) {
	p := launch(t, "release-tools", t.TempDir())
	r, err := p.Commands.GetCapabilities(t.Context(), &slashcommandv1.GetCapabilitiesRequest{})
	require.NoError(t, err)
	for _, c := range r.GetCommands() {
		if c.GetName() != "changelog" {
			continue
		}
		require.Equal(t, toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, c.GetKind())
		require.Equal(t, toolv1.RiskClass_RISK_CLASS_READ_ONLY, c.GetRisk())
		require.True(t, c.GetConcurrency().GetSafe())
		require.Empty(t, c.GetConcurrency().GetKeyFields())
		require.False(t, c.GetStreaming())
		require.True(t, c.GetIdempotent())
		require.Contains(t, c.GetInputSchema().GetProperties(), "since")
		require.NotNil(t, r.GetConfigSchema())
		require.Empty(t, r.GetSupportedHookPoints())
		// The other category is found by asking, too.
		_, err = p.Tools.GetSchema(t.Context(), &toolv1.GetSchemaRequest{})
		require.Equal(t, codes.Unimplemented, status.Code(err))
		return
	}
	t.Fatal("there is no /changelog")
}

func TestSeedCommandReadsTheChangelog(t *testing.T) {
	dir := repository(t, changelog)
	p := releaseTools(t, dir)
	stream, err := p.Commands.Invoke(t.Context(), &slashcommandv1.InvokeRequest{Call: &slashcommandv1.SlashCommandCall{
		Id: "sc_17", Name: "changelog", CallContext: where(dir), Arguments: object(t, nil),
	}})
	require.NoError(t, err)
	var events []*slashcommandv1.SlashCommandEvent
	require.NoError(t, collect(stream, func(r *slashcommandv1.InvokeResponse) { events = append(events, r.GetEvent()) }))
	require.Len(t, events, 2)
	require.Equal(t, "reading CHANGELOG.md", events[0].GetProgress().GetMessage())
	require.Equal(t, map[string]any{"unreleased": "- Add slashcommand.v1 category\n"}, events[1].GetResult().GetPayload().AsMap())
}

// cancelledRelease releases 1.4.0 and cancels as soon as the tag is announced. It checks that what is reported is true,
// and tells whether the cancellation came before the rewrite, as in the founding document, or too late.
func cancelledRelease(t *testing.T) (between bool) {
	dir := repository(t, longChangelog)
	p := releaseTools(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := p.Commands.Invoke(ctx, &slashcommandv1.InvokeRequest{Call: &slashcommandv1.SlashCommandCall{
		Id: "sc_18", Name: "release", CallContext: where(dir), Arguments: object(t, map[string]any{"version": "1.4.0"}),
	}})
	require.NoError(t, err)
	var events []*slashcommandv1.SlashCommandEvent
	err = collect(stream, func(r *slashcommandv1.InvokeResponse) {
		if events = append(events, r.GetEvent()); r.GetEvent().GetOutputChunk() != nil {
			cancel()
		}
	})
	require.GreaterOrEqual(t, len(events), 2)
	require.Equal(t, "tagging v1.4.0", events[0].GetProgress().GetMessage())
	require.Equal(t, toolv1.OutputStream_OUTPUT_STREAM_STDOUT, events[1].GetOutputChunk().GetStream())
	require.Equal(t, "Created tag v1.4.0\n", string(events[1].GetOutputChunk().GetData()))
	require.Equal(t, "tag", git(t, dir, "cat-file", "-t", "v1.4.0"))
	if err == nil {
		require.Contains(t, read(t, dir, "CHANGELOG.md"), "## [1.4.0]")
		return false
	}
	require.Equal(t, codes.Canceled, status.Code(err))
	report := reported(t, p, "sc_18")
	text := read(t, dir, "CHANGELOG.md")
	const note = "tag created; changelog rewrite cancelled before it ran"
	if report.GetMessage() != note {
		require.Contains(t, []string{
			"the cancel came too late: tag created, changelog rewritten", "completed before the cancellation took effect",
		}, report.GetMessage())
		require.Contains(t, text, "## [1.4.0]")
		return false
	}
	require.Equal(t, map[string]any{"note": note}, report.GetDetails().AsMap()["partial_result"])
	require.Equal(t, longChangelog, text, "the changelog was touched")
	return true
}

func TestSeedCommandReleaseCancelledBetweenItsSteps(t *testing.T) {
	// Whether a cancellation finds the narrow place between two steps is up to the clock. Whatever it finds must be
	// reported truly, every time; the founding document's case must come about within a few tries.
	for range 50 {
		if cancelledRelease(t) {
			return
		}
	}
	t.Fatal("no cancellation was ever heeded between the tag and the rewrite")
}
