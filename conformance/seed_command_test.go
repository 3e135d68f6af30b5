package conformance_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/conformance/client"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The worked sequences of the protocol's founding document of a slash command, event by event, against the real binary.

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
	patience, end := context.WithTimeout(t.Context(), 30*time.Second)
	defer end()
	event, err := p.Callbacks.Report(patience, "sc_18")
	text := read(t, dir, "CHANGELOG.md")
	if err != nil { // it had ended just before it heard of the cancellation, and what it sent was lost with the stream
		require.Contains(t, text, "## [1.4.0]")
		return false
	}
	report := event.GetError()
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
