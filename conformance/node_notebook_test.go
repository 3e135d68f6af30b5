package conformance_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// notebook is a running, configured provider in a project with two notes.
type notebook struct {
	*client.Provider
	dir string
}

func openNotebook(t *testing.T, path string) *notebook {
	t.Helper()
	n := launchNotebook(t, path)
	block := nodeObject(t, map[string]any{"folder": "notes", "seal_key": nodeSecret})
	_, err := n.Tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: block})
	require.NoError(t, err)
	_, err = n.Commands.Configure(t.Context(), &slashcommandv1.ConfigureRequest{Config: block})
	require.NoError(t, err, "the kernel configures each service")
	return n
}

func launchNotebook(t *testing.T, path string) *notebook {
	t.Helper()
	dir := t.TempDir()
	writeNotes(t, dir)
	p, err := client.Launch(t.Context(), client.Options{Path: path, Dir: dir, Stderr: os.Stderr})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return &notebook{Provider: p, dir: dir}
}

func writeNotes(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "notes"), 0o755))
	for name, text := range map[string]string{"one.md": "# One\n\nhello\n\n## Inner\n", "two.md": "no title\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "notes", name), []byte(text), 0o644))
	}
}

func nodeObject(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func (n *notebook) call(t *testing.T, tool string, arguments map[string]any) *toolv1.ToolCall {
	return &toolv1.ToolCall{Id: "call_" + tool, ToolName: tool, Arguments: nodeObject(t, arguments),
		CallContext: &commonv1.CallContext{SessionId: nodeSession, TurnId: nodeSession, WorkingDirectory: n.dir}}
}

// invoke runs a tool to its end and gives its events.
func (n *notebook) invoke(t *testing.T, tool string, arguments map[string]any) []*toolv1.ToolEvent {
	t.Helper()
	stream, err := n.Tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: n.call(t, tool, arguments)})
	require.NoError(t, err)
	var events []*toolv1.ToolEvent
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		require.NoError(t, err)
		events = append(events, r.GetEvent())
	}
}

func last(events []*toolv1.ToolEvent) *toolv1.ToolEvent { return events[len(events)-1] }

func nodeToolError(t *testing.T, err error) *toolv1.ToolError {
	t.Helper()
	details := status.Convert(err).Details()
	require.Len(t, details, 1, "%v", err)
	require.IsType(t, &toolv1.ToolError{}, details[0])
	return details[0].(*toolv1.ToolError)
}
