package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCreateDirectory(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/file", "")
	w.put("out/f", "")
	w.link("../out", "root/d")
	got := w.must("create_directory", args{"path": "a/b/c"})
	require.Equal(t, []any{w.root + "/a", w.root + "/a/b", w.root + "/a/b/c"}, got["directories"])
	got = w.must("create_directory", args{"path": "a/b/"})
	require.Empty(t, got["directories"])
	e := w.refused("create_directory", args{"path": "file"}, invalid)
	require.Contains(t, e.GetMessage(), "a file has this name already")
	w.refused("create_directory", args{"path": "file/x"}, invalid)
	w.refused("create_directory", args{"path": "d/x"}, denied)
	w.refused("create_directory", args{"path": "../x"}, denied)
}
