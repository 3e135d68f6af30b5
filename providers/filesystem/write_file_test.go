package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
)

// FO-29
func TestWriteFileExactly(t *testing.T) {
	w := newWorld(t, nil)
	for name, content := range map[string]string{"a": "x\n", "b": "x", "c": "", "d": "  x  \n\n", "new/dir/e": "\xef\xbb\xbfé\r\n"} {
		got := w.must("write_file", args{"path": name, "content": content})
		require.Equal(t, content, w.bytes("root/"+name))
		require.Equal(t, true, got["created"])
		require.Equal(t, float64(len(content)), got["bytes"])
		require.Equal(t, sum([]byte(content)), got["sha256"])
	}
}

func TestWriteFileOverwrites(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "old\nsame\n")
	e := w.refused("write_file", args{"path": "f", "content": "new\n"}, failed)
	require.Contains(t, e.GetMessage(), "has not read it")

	w.must("read_file", args{"path": "./f"})
	got := w.must("write_file", args{"path": "f", "content": "new\nsame\n"})
	require.Equal(t, false, got["created"])
	require.Contains(t, got["diff"], "-old\n+new\n same\n")
	require.Equal(t, "new\nsame\n", w.bytes("root/f"))
	w.must("write_file", args{"path": "f", "content": "again\n"}) // it knows what it wrote itself

	w.put("root/f", "by another\n")
	e = w.refused("write_file", args{"path": "f", "content": "mine\n"}, failed) // FO-28
	require.Contains(t, e.GetMessage(), "has changed since")
}

func TestWriteFileWithHash(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "v1\n")
	token := w.must("read_file", args{"path": "f"})["sha256"]
	w.put("root/f", "v2\n")
	e := w.refused("write_file", args{"path": "f", "content": "mine\n", "expected_sha256": token}, conflicts) // FO-28
	require.Contains(t, e.GetMessage(), "has changed")
	w.refused("write_file", args{"path": "g", "content": "mine\n", "expected_sha256": token}, notFound)
	w.must("write_file", args{"path": "f", "content": "mine\n", "expected_sha256": strings.ToUpper(sum([]byte("v2\n")))})
	require.Equal(t, "mine\n", w.bytes("root/f"))
}

func TestWriteFileWithoutReading(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	w.put("root/f", "old")
	w.must("write_file", args{"path": "f", "content": "new"})
	require.Equal(t, "new", w.bytes("root/f"))
}

func TestWriteFileRefuses(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	w.put("root/dir/f", "x")
	w.put("root-evil/s.txt", "SECRET")
	require.NoError(t, os.Mkdir(w.base+"/outdir", 0o755))
	w.link(w.base+"/outdir", "root/d")
	w.link("../nowhere", "root/dangling")
	for _, tt := range []struct {
		name, path string
		want       any
		says       string
	}{
		{"directory", "dir", invalid, "is a directory"}, // FO-30
		{"name of a directory", "new/", invalid, "slash"},
		{"name of a directory with a dot", "new/.", invalid, "dot"},
		{"below a file", "dir/f/g", invalid, "is a file"},
		{"no such directory", "no/f", notFound, "create_parents"},
		{"sibling root", w.base + "/root-evil/n.txt", denied, "outside"}, // FO-01
		{"through a linked directory", "d/new.txt", denied, "outside"},   // FO-03
		{"dangling link out", "dangling", denied, "outside"},
		{"denied name", "sub/.env", denied, "deny list"},
		{"endless name", strings.Repeat("x", 300), invalid, "name too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := w.tree()
			got := w.Call(t.Context(), "write_file", args{"path": tt.path, "content": "x", "create_parents": false})
			require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
			require.Contains(t, got.Err.GetMessage(), tt.says)
			require.Equal(t, before, w.tree())
		})
	}
}

func TestWriteFileTakesBackTheDirectoriesItMade(t *testing.T) {
	w := newWorld(t, nil)
	// The name is too long only once the directories are there.
	w.refused("write_file", args{"path": "a/b/" + strings.Repeat("x", 300), "content": "x"}, invalid)
	require.NoDirExists(t, w.root+"/a")
}

func TestWriteFileThroughLink(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	w.put("root/real/f", "old\n")
	w.link("real/f", "root/link")
	w.link("real/new", "root/dangling")
	w.must("write_file", args{"path": "link", "content": "new\n"})
	w.must("write_file", args{"path": "dangling", "content": "made\n"})
	require.Equal(t, "new\n", w.bytes("root/real/f"))
	require.Equal(t, "made\n", w.bytes("root/real/new"))
	for _, name := range []string{"link", "dangling"} {
		info, err := os.Lstat(w.root + "/" + name)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink, "a link stays a link")
	}
}

func TestWriteFileShowsWhatItCan(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false, "max_result_bytes": 300})
	w.put("root/binary", "\x00\x01")
	got := w.must("write_file", args{"path": "binary", "content": "text\n"})
	require.Equal(t, true, got["diff_clipped"])
	require.Equal(t, "", got["diff"])

	w.put("root/crlf", "a\r\nb\r\n")
	got = w.must("write_file", args{"path": "crlf", "content": "a\nb\n"})
	require.Contains(t, got["diff"], "-a\r\n", "line ends are shown if they are what changed")
	require.Equal(t, "a\nb\n", w.bytes("root/crlf"))

	got = w.must("write_file", args{"path": "crlf", "content": "a\nb\n"})
	require.Equal(t, "", got["diff"])

	got = w.must("write_file", args{"path": "long", "content": strings.Repeat("line\n", 1000)})
	require.Equal(t, true, got["diff_clipped"])
	require.LessOrEqual(t, len(got["diff"].(string)), 300)
}

// The deny list must not keep the provider from making the file that takes the
// place of the old one.
func TestWriteFileWhereTemporaryNamesAreDenied(t *testing.T) {
	for _, pattern := range []string{".*", "*.tmp"} {
		t.Run(pattern, func(t *testing.T) {
			w := newWorld(t, args{"deny": []any{pattern}, "require_read_before_write": false})
			w.put("root/f", "old")
			w.must("write_file", args{"path": "f", "content": "new"})
			require.Equal(t, "new", w.bytes("root/f"))
			w.refused("write_file", args{"path": ".x.tmp", "content": "new"}, denied)
		})
	}
}

// A name of the provider's own temporary files would be hidden from every search.
func TestNamesOfTemporaryFilesAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "x")
	name := filepath.Base(atomicfile.TempIn("."))
	e := w.refused("write_file", args{"path": name, "content": "x"}, denied)
	require.Contains(t, e.GetMessage(), "temporary files")
	w.refused("move", args{"source": "f", "destination": name}, denied)
	w.refused("apply_edits", args{"files": []any{args{"path": name, "content": "x"}}}, denied)
	w.refused("create_directory", args{"path": name}, denied)
}
