package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk/sdktest"
)

func TestMoveAndCopyRefuse(t *testing.T) {
	readOnly, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(readOnly+"/r", []byte("r"), 0o644))
	w := newWorld(t, args{"read_only_roots": []any{readOnly}})
	w.put("root/a", "A\n")
	w.put("root/b", "B\n")
	w.put("root/dir/f", "")
	w.put("root/dir2/f", "")
	w.put("root/hides/.env", "SECRET")
	w.put("outdir/f", "OUT")
	w.link("../outdir", "root/d")
	w.link("nowhere", "root/dangling")
	for _, tt := range []struct {
		name     string
		from, to string
		more     args
		want     any
		says     string
		only     string // the operation that refuses; empty: both
	}{
		{"over a file", "a", "b", nil, invalid, "set overwrite", ""}, // FO-31
		{"over a link", "a", "dangling", nil, invalid, "set overwrite", ""},
		{"into a directory", "a", "dir", nil, invalid, "dir/a", ""},
		{"a directory over one", "dir", "dir2", args{"overwrite": true}, invalid, "director", ""},
		{"a file over a directory", "a", "dir", args{"overwrite": true}, invalid, "whole new path", ""},
		{"a directory over a file", "dir", "a", args{"overwrite": true}, invalid, "director", ""},
		{"nothing", "aa", "c", nil, notFound, "did you mean", ""},
		{"into a new directory", "a", "new/", nil, invalid, "as in new/a", ""},
		{"to nowhere", "a", "no/c", nil, notFound, "create_directory", ""},
		{"to itself", "a", "./a", nil, invalid, "the same", ""},
		{"into itself", "dir", "dir/sub", nil, invalid, "inside it", ""},
		{"through a link out", "a", "d/a", nil, denied, "outside", ""}, // FO-03
		{"from outside", "../outdir/f", "f", nil, denied, "outside", ""},
		{"to outside", "a", "../outdir/a", nil, denied, "outside", ""},
		{"the root", ".", "x", nil, denied, "root", ""},
		{"to a read-only root", "a", readOnly + "/a", nil, denied, "read-only", ""},
		{"from a read-only root", readOnly + "/r", "r", nil, denied, "read-only", "move"},
		{"what hides a file", "hides", "seen", nil, denied, "deny list", ""},
		{"to a hidden name", "a", ".env", nil, denied, "deny list", ""},
		{"a file as a directory", "a/", "c", nil, invalid, "not a directory", "move"},
		{"a link out", "d", "copy", nil, denied, "outside", "copy"},
		{"no source", "", "c", nil, invalid, "empty", ""},
		{"no destination", "a", "", nil, invalid, "empty", ""},
	} {
		for _, operation := range []string{"move", "copy"} {
			if tt.only != "" && tt.only != operation {
				continue
			}
			t.Run(operation+" "+tt.name, func(t *testing.T) {
				before := w.tree()
				a := args{"source": tt.from, "destination": tt.to}
				for k, v := range tt.more {
					a[k] = v
				}
				got := w.Call(t.Context(), operation, a)
				require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
				require.Contains(t, got.Err.GetMessage(), tt.says)
				_, err := w.Preview(t.Context(), operation, a)
				require.Equal(t, tt.want, sdktest.ToolError(err).GetCategory())
				require.Equal(t, before, w.tree())
			})
		}
	}
}

func TestMove(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a", "A\n")
	w.put("root/b", "B\n")
	w.put("root/dir/f", "f\n")
	w.link("a", "root/link")
	w.must("read_many", args{"paths": []any{"a", "dir/f"}})
	w.must("move", args{"source": "link", "destination": "dir/link"})
	target, err := os.Readlink(w.root + "/dir/link")
	require.NoError(t, err)
	require.Equal(t, "a", target, "a link is moved itself")
	w.must("move", args{"source": "dir/", "destination": "moved/"})
	got := w.must("move", args{"source": "a", "destination": "b", "overwrite": true})
	require.Equal(t, true, got["replaced"])
	require.Equal(t, "A\n", w.bytes("root/b"))
	require.NoFileExists(t, w.root+"/a")
	// What the session knows of a file goes with it.
	w.must("edit_file", args{"path": "b", "old_string": "A", "new_string": "C"})
	w.must("edit_file", args{"path": "moved/f", "old_string": "f", "new_string": "g"})
	w.noTemporaryFiles()
}

func TestCopy(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a", "A\n")
	w.put("root/b", "B\n")
	w.put("root/dir/sub/f", "f\n")
	w.link("../a", "root/dir/link")
	require.NoError(t, os.Chmod(w.root+"/a", 0o4755))
	require.NoError(t, os.Chmod(w.root+"/dir/sub", 0o750))
	w.must("copy", args{"source": "dir/link", "destination": "c"})
	require.Equal(t, "A\n", w.bytes("root/c"), "a copy is of what a link leads to")
	require.Equal(t, os.FileMode(0o755), w.mode("root/c"), "nobody gets a set-user-id program")
	got := w.must("copy", args{"source": "dir", "destination": "dir2"})
	require.Equal(t, 4., got["count"])
	require.Equal(t, "f\n", w.bytes("root/dir2/sub/f"))
	require.Equal(t, os.FileMode(0o750)|os.ModeDir, w.mode("root/dir2/sub"))
	target, err := os.Readlink(w.root + "/dir2/link")
	require.NoError(t, err)
	require.Equal(t, "../a", target)
	require.NoError(t, os.Chmod(w.root+"/b", 0o600))
	w.must("copy", args{"source": "a", "destination": "b", "overwrite": true})
	require.Equal(t, "A\n", w.bytes("root/b"))
	require.Equal(t, os.FileMode(0o600), w.mode("root/b"), "what is written over keeps its mode")
	w.noTemporaryFiles()
}

// FO-32: between roots, and so between devices where these are two.
func TestMoveAcrossDevices(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "")
	if err != nil {
		shm = t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(shm)) })
	w := newWorld(t, args{"allowed_roots": []any{shm}})
	w.put("root/x", "")
	second := newWorld(t, args{"allowed_roots": []any{w.root, shm}})
	w.put("root/f", "x")
	w.put("root/dir/sub/g", "g")
	w.link("sub/g", "root/dir/link")
	require.NoError(t, os.Chmod(w.root+"/f", 0o750))
	second.must("move", args{"source": w.root + "/f", "destination": shm + "/f"})
	body, err := os.ReadFile(shm + "/f")
	require.NoError(t, err)
	require.Equal(t, "x", string(body))
	info, err := os.Stat(shm + "/f")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode())
	require.NoFileExists(t, w.root+"/f")

	second.must("move", args{"source": w.root + "/dir", "destination": shm + "/dir"})
	require.FileExists(t, shm+"/dir/sub/g")
	target, err := os.Readlink(shm + "/dir/link")
	require.NoError(t, err)
	require.Equal(t, "sub/g", target)
	require.NoDirExists(t, w.root+"/dir")

	second.must("undo", args{"path": shm + "/dir", "destination": w.root + "/dir"})
	require.FileExists(t, w.root+"/dir/sub/g")
	require.NoDirExists(t, shm+"/dir")
}
