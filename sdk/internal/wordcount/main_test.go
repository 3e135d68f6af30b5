//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(plugin.MagicCookieKey) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// folder is a root with all that a path can name.
func folder(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	require.NoError(t, os.WriteFile(outside, []byte("not to be counted"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "poem.txt"), []byte("so much depends\nupon\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "empty.txt"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	require.NoError(t, os.Symlink("../poem.txt", filepath.Join(root, "sub", "link.txt")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "out.txt")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	return root
}

// running gives the provider inside the test and as a process of its own: they must not differ.
func running(t *testing.T, root string, check func(*testing.T, *sdktest.Harness)) {
	t.Helper()
	settings := map[string]any{"root": root}
	t.Run("inside the test", func(t *testing.T) { check(t, sdktest.Start(t, provider(), settings)) })
	t.Run("as a process", func(t *testing.T) { check(t, sdktest.StartProcess(t, exec.Command(os.Args[0]), settings)) })
}

func TestCount(t *testing.T) {
	root := folder(t)
	running(t, root, func(t *testing.T, h *sdktest.Harness) {
		for _, test := range []struct {
			name      string
			arguments map[string]any
			words     any
			category  string
			message   string
		}{
			{"a file", map[string]any{"path": "poem.txt"}, 4.0, "", ""},
			{"an empty one", map[string]any{"path": "empty.txt"}, 0.0, "", ""},
			{"another spelling", map[string]any{"path": "./sub/../poem.txt"}, 4.0, "", ""},
			{"its whole name", map[string]any{"path": filepath.Join(root, "poem.txt")}, 4.0, "", ""},
			{"a link inside", map[string]any{"path": "sub/link.txt"}, 4.0, "", ""},
			{"a missing file", map[string]any{"path": "prose.txt"}, nil, "NOT_FOUND", "prose.txt"},
			{"a way out", map[string]any{"path": "../secret.txt"}, nil, "PERMISSION_DENIED", "name something inside " + root},
			{"another whole name", map[string]any{"path": "/etc/passwd"}, nil, "PERMISSION_DENIED", "outside"},
			{"a link out", map[string]any{"path": "out.txt"}, nil, "PERMISSION_DENIED", "outside"},
			{"a directory", map[string]any{"path": "sub"}, nil, "INVALID_ARGUMENTS", "directory"},
			{"a named pipe, which would block", map[string]any{"path": "pipe"}, nil, "INVALID_ARGUMENTS", "named pipe"},
			{"a name no system takes", map[string]any{"path": "a\x00b"}, nil, "INVALID_ARGUMENTS", "NUL"},
			{"a name that is too long", map[string]any{"path": strings.Repeat("a", 300)}, nil, "INVALID_ARGUMENTS", "too long"},
			{"no argument", nil, nil, "INVALID_ARGUMENTS", "argument path is required"},
			{"an argument of another type", map[string]any{"path": 1.5}, nil, "INVALID_ARGUMENTS", "argument path must be a string, not a number"},
			{"an argument too many", map[string]any{"path": "poem.txt", "line": 1}, nil, "INVALID_ARGUMENTS", "argument line is not known"},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := h.Call(t.Context(), "count", test.arguments)
				if test.category == "" {
					require.Nil(t, r.Err)
					require.Equal(t, map[string]any{"words": test.words}, r.Result)
					return
				}
				require.Equal(t, "TOOL_ERROR_CATEGORY_"+test.category, r.Err.GetCategory().String(), r.Err)
				require.Contains(t, r.Err.GetMessage(), test.message)
			})
		}
	})
}

func TestPlanAndLine(t *testing.T) {
	running(t, folder(t), func(t *testing.T, h *sdktest.Harness) {
		plan, err := h.Preview(t.Context(), "count", map[string]any{"path": "poem.txt"})
		require.NoError(t, err)
		require.Equal(t, "read poem.txt", plan.GetRoot().GetText().GetContent())

		r := h.Call(t.Context(), "count", map[string]any{"path": "poem.txt"})
		shown, err := h.Render(t.Context(), r.Result)
		require.NoError(t, err)
		require.Equal(t, "poem.txt: 4 words", shown.GetRoot().GetText().GetContent())
	})
}

func TestSchema(t *testing.T) {
	running(t, folder(t), func(t *testing.T, h *sdktest.Harness) {
		tool := h.Tools(t.Context())[0]
		require.Equal(t, "count", tool.GetName())
		require.Equal(t, toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, tool.GetKind())
		require.Equal(t, toolv1.RiskClass_RISK_CLASS_READ_ONLY, tool.GetRisk())
		require.Equal(t, []string{"path"}, tool.GetInputSchema().GetRequired())
		require.Equal(t, "File to count, relative to root.", tool.GetInputSchema().GetProperties()["path"].GetDescription())
		require.Equal(t, []string{"words"}, tool.GetOutputSchema().GetRequired())
	})
}

func TestCancelledInTheMiddleOfAFile(t *testing.T) {
	root := folder(t)
	long := filepath.Join(root, "long.txt")
	require.NoError(t, os.WriteFile(long, []byte(strings.Repeat("a ", 32<<20)), 0o600))
	running(t, root, func(t *testing.T, h *sdktest.Harness) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := h.Watch(ctx, h.Dir, "count", map[string]any{"path": "long.txt"}, func(e *toolv1.ToolEvent) {
			if e.GetProgress() != nil {
				cancel()
			}
		})
		require.Equal(t, codes.Canceled, status.Code(r.Status))
		require.Nil(t, r.Result)
		require.Nil(t, r.Err)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, r.Report.GetCategory())
		require.Equal(t, "cancelled", r.Report.GetMessage())
	})
}

func TestConfigurationIsRefusedAtOnce(t *testing.T) {
	root := folder(t)
	for _, test := range []struct {
		name, root, want string
	}{
		{"not there", filepath.Join(root, "nowhere"), "root must be a directory that exists; there is no " + filepath.Join(root, "nowhere")},
		{"a file", filepath.Join(root, "poem.txt"), "root must be a directory, which " + filepath.Join(root, "poem.txt") + " is not"},
		{"a named pipe, which would block", filepath.Join(root, "pipe"), "is not"},
		{"nothing", "", "root must not be empty"},
		{"somebody else's home", "~nobody/x", "root is ~nobody/x; the home of another user"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := sdktest.Configure(t, provider(), map[string]any{"root": test.root})
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.Contains(t, sdktest.ToolError(err).GetMessage(), test.want)
			require.Equal(t, "root", sdktest.ToolError(err).GetDetails().GetFields()["field"].GetStringValue())
		})
	}
}
