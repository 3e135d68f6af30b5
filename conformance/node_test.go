package conformance_test

import (
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The provider of examples/node-provider shares no line with the SDK: what it does, any language can.

const (
	nodeSession = "01J9Z3QK4T8V6W2X5Y7A9B1C3D"
	nodeSecret  = "sixteen letters and more"
)

// TestNode runs the provider that is written in JavaScript. It is skipped where Node or its packages are not to be had.
func TestNode(t *testing.T) {
	path := installNode(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, string)
	}{
		{"its own tests", nodeOwnTests},
		{"identity", nodeIdentity},
		{"configure", nodeConfigure},
		{"preview and edit", nodeEdit},
		{"errors of a call", nodeErrors},
		{"stream of a child process", nodeStream},
		{"slow reader", nodeSlowReader},
		{"cancel", nodeCancel},
		{"cancel the deaf", nodeCancelDeaf},
		{"secret", nodeSecretStays},
		{"terminate", nodeTerminate},
		{"killed", nodeKilled},
		{"parent dies", nodeParentDies},
		{"under agent", nodeUnderAgent},
		{"every rule of the protocol", nodeConformance},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, path) })
	}
}

func nodeOwnTests(t *testing.T, path string) {
	npm := exec.CommandContext(t.Context(), "npm", "test")
	npm.Dir = filepath.Dir(path)
	out, err := npm.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "# pass 0\n")
}

func nodeIdentity(t *testing.T, path string) {
	n := launchNotebook(t, path)
	d, err := n.Tools.Describe(t.Context(), &toolv1.DescribeRequest{})
	require.NoError(t, err)
	require.Equal(t, "notebook", d.GetProducer().GetName())
	require.Equal(t, commonv1.Category_CATEGORY_TOOL, d.GetProducer().GetCategory())
	require.EqualValues(t, 1, d.GetProducer().GetProtocolVersion())
	schema, err := n.Tools.GetSchema(t.Context(), &toolv1.GetSchemaRequest{})
	require.NoError(t, err)
	capabilities, err := n.Commands.GetCapabilities(t.Context(), &slashcommandv1.GetCapabilitiesRequest{})
	require.NoError(t, err)
	require.Len(t, schema.GetTools(), 3)
	require.Equal(t, "outline", capabilities.GetCommands()[0].GetName())
	attributes := schema.GetConfigSchema().GetAttributes()
	require.True(t, attributes[0].GetRequired())
	require.True(t, attributes[1].GetSensitive())
	require.Nil(t, attributes[1].DefaultJson)
}

func nodeConfigure(t *testing.T, path string) {
	n := launchNotebook(t, path)
	for _, test := range []struct {
		name  string
		block map[string]any
		field string
	}{
		{"nothing", nil, "folder"},
		{"another type", map[string]any{"folder": true}, "folder"},
		{"no such folder", map[string]any{"folder": "missing"}, "folder"},
		{"unknown attribute", map[string]any{"folder": "notes", "foldre": "x"}, "foldre"},
		{"short secret", map[string]any{"folder": "notes", "seal_key": "hunter2"}, "seal_key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := n.Tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: nodeObject(t, test.block)})
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			e := nodeToolError(t, err)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, e.GetCategory())
			require.Equal(t, test.field, e.GetDetails().GetFields()["field"].GetStringValue())
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func nodeEdit(t *testing.T, path string) {
	n := openNotebook(t, path)
	file := filepath.Join(n.dir, "notes", "one.md")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	edit := map[string]any{"name": "one.md", "old_text": "hello", "new_text": "goodbye"}
	preview, err := n.Tools.Preview(t.Context(), &toolv1.PreviewRequest{Call: n.call(t, "edit_note", edit)})
	require.NoError(t, err)
	hunk := preview.GetPreview().GetRoot().GetGroup().GetChildren()[1].GetDiff().GetHunks()[0]
	require.EqualValues(t, []int32{1, 5, 1, 5}, []int32{hunk.GetOldStart(), hunk.GetOldLines(), hunk.GetNewStart(), hunk.GetNewLines()})
	unchanged, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before, unchanged, "a preview does nothing")

	events := n.invoke(t, "edit_note", edit)
	require.EqualValues(t, 3, last(events).GetResult().GetPayload().GetFields()["line"].GetNumberValue())
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(string(before), "hello", "goodbye", 1), string(after))

	_, err = n.Tools.Preview(t.Context(), &toolv1.PreviewRequest{Call: n.call(t, "edit_note", edit)})
	require.Equal(t, codes.NotFound, status.Code(err), "what Invoke refuses, Preview refuses")
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, nodeToolError(t, err).GetCategory())
}

func nodeErrors(t *testing.T, path string) {
	n := openNotebook(t, path)
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(n.dir, "notes", "link.md")))
	edit := func(name, old string) map[string]any {
		return map[string]any{"name": name, "old_text": old, "new_text": ""}
	}
	for _, test := range []struct {
		name, tool string
		arguments  map[string]any
		want       toolv1.ToolErrorCategory
	}{
		{"missing argument", "run", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"another type", "run", map[string]any{"command": 1.0}, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"unknown tool", "walk", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"ambiguous", "edit_note", edit("one.md", "n"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"half a note", "list_notes", map[string]any{"limit": 1.5}, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"no number at all", "list_notes", map[string]any{"limit": math.NaN()}, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"too large a note", "edit_note", map[string]any{"name": "one.md", "old_text": "hello", "new_text": strings.Repeat("x", 1<<20)},
			toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED},
		{"no such note", "edit_note", edit("three.md", "o"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND},
		{"a way out", "edit_note", edit("../one.md", "o"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"a link", "edit_note", edit("link.md", "root"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := n.invoke(t, test.tool, test.arguments)
			require.Len(t, events, 1)
			require.Equal(t, test.want.String(), events[0].GetError().GetCategory().String(), events[0].GetError().GetMessage())
			require.NotEmpty(t, events[0].GetError().GetMessage())
		})
	}
}

func nodeStream(t *testing.T, path string) {
	n := openNotebook(t, path)
	events := n.invoke(t, "run", map[string]any{"command": `printf 'out\377'; printf err >&2; kill -USR1 $$`})
	var stdout, stderr []byte
	var exit *toolv1.ToolEvent_ExitStatus
	for _, event := range events {
		if chunk := event.GetOutputChunk(); chunk.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDOUT {
			stdout = append(stdout, chunk.GetData()...)
		} else {
			stderr = append(stderr, chunk.GetData()...)
		}
		if event.GetExitStatus() != nil {
			require.Nil(t, exit)
			exit = event.GetExitStatus()
		}
	}
	require.NotEmpty(t, events[0].GetProgress().GetMessage())
	require.Equal(t, "out\xff", string(stdout))
	require.Equal(t, "err", string(stderr))
	require.EqualValues(t, 128+int(syscall.SIGUSR1), exit.GetExitCode())
	require.Equal(t, "SIGUSR1", exit.GetSignal())
	require.EqualValues(t, 7, last(events).GetResult().GetPayload().GetFields()["output_bytes"].GetNumberValue())
}

// nodeSlowReader holds that a kernel which does not read stops the command, and that nothing is lost by it.
func nodeSlowReader(t *testing.T, path string) {
	const size = 64 << 20
	n := openNotebook(t, path)
	mark := filepath.Join(n.dir, "printed")
	command := `head -c 67108864 /dev/zero; echo done >` + mark
	stream, err := n.Tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: n.call(t, "run", map[string]any{"command": command})})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	// Another call prints as much and is read, so there was time to print everything if nothing held the command back.
	n.invoke(t, "run", map[string]any{"command": "head -c 67108864 /dev/zero"})
	require.NoFileExists(t, mark)
	total := 0
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		total += len(r.GetEvent().GetOutputChunk().GetData())
	}
	require.Equal(t, size, total)
	require.FileExists(t, mark)
}
