package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
	"github.com/agentco/agent/sdk/sdktest"
)

// memory is a filesystem without a disk, in which the whole tree is allowed.
type memory struct {
	afero.Fs
	renaming func() // runs before each rename
}

func (memory) Abs(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join("/", dir, name)
}

func (memory) Resolve(name string) (string, error) { return filepath.Clean(name), nil }

func (memory) Writable(string) error { return nil }

func (m memory) Rename(from, to string) error {
	m.renaming()
	return m.Fs.Rename(from, to)
}

func (m memory) RenameNew(from, to string) error {
	if _, err := m.Stat(to); err == nil {
		return fs.ErrExist
	}
	return m.Rename(from, to)
}

func (m memory) Survey(_ context.Context, name string) (t jail.Tree, err error) {
	return t, afero.Walk(m.Fs, name, func(_ string, info fs.FileInfo, err error) error {
		t.Entries++
		if err == nil && info.Mode().IsRegular() {
			t.Bytes += info.Size()
		}
		return err
	})
}

func (m memory) RemoveTree(ctx context.Context, name string) (int, error) {
	t, err := m.Survey(ctx, name)
	return t.Entries, errors.Join(err, m.RemoveAll(name))
}

// inMemory is a provider without operations, over a filesystem in memory.
func inMemory(renaming func()) (*sdk.Provider[config], afero.Fs) {
	m := memory{Fs: afero.NewMemMapFs(), renaming: renaming}
	return sdk.New[config]("filesystem", "in memory").Setup(func(_ context.Context, c *config, _ sdk.Env) error {
		c.files = &workspace{files: m, maxResult: c.MaxResult, readFirst: c.ReadFirst, memory: semaphore.NewWeighted(heldRoom)}
		c.files.writer.FS = m
		return nil
	}), m.Fs
}

func TestOperationsInMemory(t *testing.T) {
	p, files := inMemory(func() {})
	operations(p)
	h := sdktest.Start(t, p, args{"allowed_roots": []any{"/"}})
	h.Dir = "/work"
	call := func(operation string, a args) map[string]any {
		got := h.Call(t.Context(), operation, a)
		require.Nil(t, got.Err, "%v", got.Err)
		return got.Result
	}
	require.Equal(t, true, call("write_file", args{"path": "dir/f", "content": "a\r\nb\r\n"})["created"])
	require.NoError(t, files.Chmod("/work/dir/f", 0o750))
	require.Equal(t, "a\nb\n", call("read_file", args{"path": "dir/f"})["content"])
	call("edit_file", args{"path": "/work/dir/f", "old_string": "b\n", "new_string": "c\nd\n"})
	body, err := afero.ReadFile(files, "/work/dir/f")
	require.NoError(t, err)
	require.Equal(t, "a\r\nc\r\nd\r\n", string(body))
	info, err := files.Stat("/work/dir/f")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	require.Equal(t, []string{"dir/f"}, entryNames(call("list_directory", args{"path": "dir"})), "and no temporary file")
	require.NotNil(t, h.Call(t.Context(), "read_file", args{"path": "none"}).Err)
}

func TestCancelledWriteSaysWhatHappened(t *testing.T) {
	const file = "/work/f"
	for _, tt := range []struct {
		name       string
		early      bool // before anything is done
		want, says string
	}{
		{"too late", false, "new", "f was written before the call was cancelled"},
		{"in time", true, "old", "f was not changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var handler context.Context
			p, files := inMemory(func() {
				cancel()
				<-handler.Done()
			})
			require.NoError(t, afero.WriteFile(files, file, []byte("old"), 0o644))
			sdk.Tool(p, "write_file", "write", func(ctx context.Context, call *sdk.Call[config], in writeIn) (writeOut, error) {
				handler = ctx
				if tt.early {
					cancel()
					<-ctx.Done()
				}
				return writeFile(ctx, call, in)
			})
			h := sdktest.Start(t, p, args{"allowed_roots": []any{"/"}, "require_read_before_write": false})
			got := h.CallIn(ctx, "/work", "write_file", args{"path": "f", "content": "new"})
			require.Nil(t, got.Result)
			require.Nil(t, got.Err)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, got.Report.GetCategory())
			require.Contains(t, got.Report.GetMessage(), tt.says)
			body, err := afero.ReadFile(files, file)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(body))
			left, err := afero.ReadDir(files, "/work")
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}

// A cancellation in the midst of a change of several files finds none changed or
// all, and the report says which.
func TestCancelledApplyEditsSaysWhatHappened(t *testing.T) {
	for _, tt := range []struct {
		name         string
		early        bool
		wantA, wantB string
		says         string
	}{
		{"too late", false, "new", "new", "all files were changed"},
		{"in time", true, "old", "old", "was not changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var handler context.Context
			p, files := inMemory(func() { // between the first file and the second
				cancel()
				<-handler.Done()
			})
			for _, name := range []string{"/work/a", "/work/b"} {
				require.NoError(t, afero.WriteFile(files, name, []byte("old"), 0o644))
			}
			sdk.Tool(p, "apply_edits", "apply", func(ctx context.Context, call *sdk.Call[config], in applyIn) (applyOut, error) {
				handler = ctx
				if tt.early {
					cancel()
					<-ctx.Done()
				}
				return applyEdits(ctx, call, in)
			})
			h := sdktest.Start(t, p, args{"allowed_roots": []any{"/"}, "require_read_before_write": false})
			got := h.CallIn(ctx, "/work", "apply_edits", args{"files": []any{args{"path": "a", "content": "new"}, args{"path": "b", "content": "new"}}})
			require.Nil(t, got.Result)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, got.Report.GetCategory())
			require.Contains(t, got.Report.GetMessage(), tt.says)
			for name, want := range map[string]string{"/work/a": tt.wantA, "/work/b": tt.wantB} {
				body, err := afero.ReadFile(files, name)
				require.NoError(t, err)
				require.Equal(t, want, string(body))
			}
			left, err := afero.ReadDir(files, "/work")
			require.NoError(t, err)
			require.Len(t, left, 2)
		})
	}
}
