package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUndo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w world)
		path   string
		undone string
		back   string
	}{
		{"an edit", func(w world) {
			w.must("read_file", args{"path": "f"})
			w.must("edit_file", args{"path": "f", "old_string": "b", "new_string": "B"})
		}, "f", "restored", ""},
		{"a write", func(w world) {
			w.must("read_file", args{"path": "f"})
			w.must("write_file", args{"path": "f", "content": ""})
		}, "f", "restored", ""},
		{"a write through a link", func(w world) {
			w.must("read_file", args{"path": "link"})
			w.must("write_file", args{"path": "link", "content": "x"})
		}, "link", "restored", ""},
		{"a new file", func(w world) { w.must("write_file", args{"path": "x/y/z", "content": "new"}) }, "x/y/z", "removed", ""},
		{"a deletion", func(w world) { w.must("delete", args{"path": "f"}) }, "f", "restored", ""},
		{"the deletion of a link", func(w world) { w.must("delete", args{"path": "link"}) }, "link", "restored", ""},
		{"the deletion of an empty file", func(w world) { w.must("delete", args{"path": "empty"}) }, "empty", "restored", ""},
		{"a move", func(w world) { w.must("move", args{"source": "f", "destination": "g"}) }, "g", "moved_back", "f"},
		{"the move of a directory", func(w world) { w.must("move", args{"source": "dir", "destination": "dir2"}) }, "dir2", "moved_back", "dir"},
		{"a move over another", func(w world) { w.must("move", args{"source": "f", "destination": "other", "overwrite": true}) }, "other", "moved_back", "f"},
		{"a copy", func(w world) { w.must("copy", args{"source": "f", "destination": "g"}) }, "g", "removed", ""},
		{"a copy over another", func(w world) { w.must("copy", args{"source": "f", "destination": "other", "overwrite": true}) }, "other", "restored", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.put("root/f", "\xef\xbb\xbfa\r\nb\n\x99")
			w.put("root/other", "other\n")
			w.put("root/empty", "")
			w.put("root/dir/deep/f", "deep")
			w.link("f", "root/link")
			require.NoError(t, os.Chmod(w.root+"/f", 0o751))
			before := w.contents()
			tt.change(w)
			require.NotEqual(t, before, w.contents())
			call := args{"path": tt.path}
			if tt.back != "" {
				call["destination"] = tt.back
			}
			_, err := w.Preview(t.Context(), "undo", call)
			require.NoError(t, err)
			got := w.must("undo", call)
			require.Equal(t, tt.undone, got["undone"])
			require.Equal(t, before, w.contents(), "to the byte and the mode")
			w.refused("undo", args{"path": tt.path}, notFound)
		})
	}
}

func TestUndoGoesBackStepByStep(t *testing.T) {
	w := newWorld(t, nil)
	w.must("write_file", args{"path": "f", "content": "1"})
	w.must("write_file", args{"path": "f", "content": "2"})
	w.must("move", args{"source": "f", "destination": "g"})
	w.must("undo", args{"path": "g", "destination": "f"})
	w.must("undo", args{"path": "f"})
	require.Equal(t, "1", w.bytes("root/f"))
	w.must("undo", args{"path": "f"})
	require.NoFileExists(t, w.root+"/f")
}

// By the name of a link it is the later of what became of the link and of the
// file that it leads to.
func TestUndoByALink(t *testing.T) {
	w := newWorld(t, nil)
	w.link("f", "root/link")
	w.must("move", args{"source": "link", "destination": "l"})
	w.must("write_file", args{"path": "l", "content": "new"})
	w.must("undo", args{"path": "l"})
	require.NoFileExists(t, w.root+"/f")
	w.must("undo", args{"path": "l", "destination": "link"})
	_, err := os.Readlink(w.root + "/link")
	require.NoError(t, err)
}

func TestUndoRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "old\n")
	w.put("root/dir/f", "")
	e := w.refused("undo", args{"path": "f"}, notFound)
	require.Contains(t, e.GetMessage(), "this session has made none")
	w.refused("undo", args{"path": "../x"}, denied)

	w.must("read_file", args{"path": "f"})
	w.must("write_file", args{"path": "f", "content": "new\n"})
	w.put("root/f", "theirs\n")
	e = w.refused("undo", args{"path": "f"}, conflicts)
	require.Contains(t, e.GetMessage(), "not what was written")

	w.must("delete", args{"path": "f"})
	w.put("root/f", "again\n")
	e = w.refused("undo", args{"path": "f"}, conflicts)
	require.Contains(t, e.GetMessage(), "has the name now")

	w.must("move", args{"source": "f", "destination": "g"})
	w.put("root/f", "in the way\n")
	e = w.refused("undo", args{"path": "g", "destination": "f"}, conflicts)
	require.Contains(t, e.GetMessage(), "has its old name")
	require.NoError(t, os.Remove(w.root+"/f"))
	require.NoError(t, os.Remove(w.root+"/g"))
	w.put("root/g", "another\n")
	w.refused("undo", args{"path": "g", "destination": "f"}, conflicts)

	w.must("delete", args{"path": "dir", "recursive": true})
	e = w.refused("undo", args{"path": "dir"}, failed)
	require.Contains(t, e.GetMessage(), "it was a directory")
}

// What decides about a call goes by the paths it names: so an undo names both ends of a move, or does not move.
func TestUndoOfAMoveNamesWhereItGoesBack(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a/f", "moved\n")
	w.put("root/b/other", "there\n")
	w.link("a", "root/link")
	w.must("move", args{"source": "a/f", "destination": "b/f"})
	for _, tt := range []struct {
		name string
		call args
		says string
	}{
		{"no destination", args{"path": "b/f"}, w.root + "/a/f; to move it back, give that as destination"},
		{"an empty one", args{"path": "b/f", "destination": ""}, w.root + "/a/f; to move it back, give that as destination"},
		{"another one", args{"path": "b/f", "destination": "b/g"}, "cannot move b/f back to b/g: it was moved from " + w.root + "/a/f"},
		{"its directory", args{"path": "b/f", "destination": "a"}, "cannot move b/f back to a: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := w.refused("undo", tt.call, invalid)
			require.Contains(t, e.GetMessage(), tt.says)
			_, err := w.Preview(t.Context(), "undo", tt.call)
			require.Error(t, err)
			require.FileExists(t, w.root+"/b/f")
			require.NoFileExists(t, w.root+"/a/f")
		})
	}
	w.refused("undo", args{"path": "b/f", "destination": "../outside"}, denied)
	require.Equal(t, "moved_back", w.must("undo", args{"path": w.root + "/b/f", "destination": "link/../link/f"})["undone"], "however it is spelled")
	require.Equal(t, "moved\n", w.bytes("root/a/f"))

	w.must("move", args{"source": "a/f", "destination": "b/f"})
	require.NoError(t, os.RemoveAll(w.root+"/a"))
	call := args{"path": "b/f", "destination": "a/f"}
	_, err := w.Preview(t.Context(), "undo", call)
	require.NoError(t, err)
	w.must("undo", call)
	require.Equal(t, "moved\n", w.bytes("root/a/f"), "its directory is made again")

	w.must("write_file", args{"path": "new", "content": "x"})
	e := w.refused("undo", args{"path": "new", "destination": "a/new"}, invalid)
	require.Contains(t, e.GetMessage(), "was not moved by its last change")
	require.FileExists(t, w.root+"/new")
}
