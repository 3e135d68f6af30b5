package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDelete(t *testing.T) {
	w := newWorld(t, nil)
	w.put("out/f", "OUT")
	w.put("root/f", "x")
	w.put("root/tree/a/b", "")
	w.put("root/tree/c", "")
	require.NoError(t, os.Mkdir(w.root+"/empty", 0o755))
	w.link("../../out", "root/tree/link")
	w.link("f", "root/link")
	w.link("nowhere", "root/dangling")
	for _, tt := range []struct {
		args args
		kind string
		want float64
	}{
		{args{"path": "link"}, "link", 1},
		{args{"path": "dangling"}, "link", 1},
		{args{"path": "f"}, "file", 1},
		{args{"path": "empty"}, "directory", 1},
		{args{"path": "tree", "recursive": true}, "directory", 5},
	} {
		_, err := w.Preview(t.Context(), "delete", tt.args)
		require.NoError(t, err)
		got := w.must("delete", tt.args)
		require.Equal(t, tt.kind, got["type"])
		require.Equal(t, tt.want, got["count"])
	}
	left, err := os.ReadDir(w.root)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, "OUT", w.bytes("out/f"), "links are deleted, not what they lead to")
}

func TestDeleteRefuses(t *testing.T) {
	readOnly := t.TempDir()
	w := newWorld(t, args{"read_only_roots": []any{readOnly}})
	w.put("out/f", "OUT")
	w.put("root/tree/f", "")
	w.put("root/hides/deep/.env", "SECRET")
	w.put("root/file", "")
	w.link("../out", "root/d")
	for _, tt := range []struct {
		name, path string
		recursive  bool
		want       any
		says       string
	}{
		{"not empty", "tree", false, invalid, "set recursive"},
		{"the root", ".", true, denied, "root"},
		{"the root by its name", w.root, true, denied, "root"},
		{"the root from below", "tree/..", true, denied, "root"},
		{"a read-only root", readOnly, true, denied, "root"},
		{"above the root", "..", true, denied, "outside"},
		{"outside", "../out/f", false, denied, "outside"},
		{"through a link out", "d/f", false, denied, "outside"},
		{"the top", "/", true, denied, "outside"},
		{"what hides a file", "hides", true, denied, "deny list"},
		{"a hidden file", "hides/deep/.env", false, denied, "deny list"},
		{"nothing", "fil", false, notFound, "did you mean file?"},
		{"a file as a directory", "file/", false, invalid, "not a directory"},
		{"no name", "", false, invalid, "empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := w.tree()
			got := w.Call(t.Context(), "delete", args{"path": tt.path, "recursive": tt.recursive})
			require.NotNil(t, got.Err)
			require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
			require.Contains(t, got.Err.GetMessage(), tt.says)
			require.Equal(t, before, w.tree())
		})
	}
}
