package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/fixture/fault"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

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
