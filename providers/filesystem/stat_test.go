package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStat(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/dir/f", "123")
	w.put("out.txt", "SECRET")
	w.link("../out.txt", "root/leak")
	got := w.must("stat", args{"path": "dir/f"})
	require.Equal(t, []any{"f", "file", 3., "0644"}, []any{got["name"], got["type"], got["size"], got["mode"]})
	require.Equal(t, "directory", w.must("stat", args{"path": "."})["type"])
	got = w.must("stat", args{"path": "leak"})
	require.Equal(t, []any{"link", "../out.txt"}, []any{got["type"], got["link_target"]}, "the link itself")
	e := w.refused("stat", args{"path": "dir/g"}, notFound)
	require.Contains(t, e.GetMessage(), "dir/g")
	w.refused("stat", args{"path": "leak/"}, invalid)
	w.refused("stat", args{"path": "../out.txt"}, denied)
}
