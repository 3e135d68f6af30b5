package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever approves sees a name without what hides it, and where it leads.
func TestPreviewSaysWhichFile(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	w.put("root/sub/a.txt", "old\n")
	w.link("sub", "root/link")
	w.link("sub/a.txt", "root/file")
	w.put("root/odd\nname", "old\n")
	w.link("odd\nname", "root/plain")
	for _, tt := range []struct {
		name, tool string
		args       args
		want       string
	}{
		{"as it is", "write_file", args{"path": "sub/b.txt", "content": "x"}, "create sub/b.txt\n"},
		{"round about", "write_file", args{"path": "./sub/../sub//b.txt", "content": "x"}, "create sub/b.txt\n"},
		{"through a link", "write_file", args{"path": "link/b.txt", "content": "x"}, "create link/b.txt (which is " + w.root + "/sub/b.txt)\n"},
		{"a link", "edit_file", args{"path": "file", "old_string": "old", "new_string": "new"}, "edit file (which is " + w.root + "/sub/a.txt)\n"},
		{"several", "apply_edits", args{"files": []any{args{"path": "link/a.txt", "content": "x"}}}, "write link/a.txt (which is " + w.root + "/sub/a.txt)\n"},
		{"to be deleted", "delete", args{"path": "./link/a.txt"}, "delete the file ./link/a.txt (which is " + w.root + "/sub/a.txt)"},
		{"the link itself", "delete", args{"path": "./file"}, "delete the link file"},
		{"moved", "move", args{"source": "link/a.txt", "destination": "sub/../b.txt"}, "move the file link/a.txt (which is " + w.root + "/sub/a.txt) to b.txt"},
		{"a directory", "create_directory", args{"path": "link/./new"}, "create directory link/./new (which is " + w.root + "/sub/new)"},
		{"of two lines", "delete", args{"path": "odd\nname"}, `delete the file "odd\nname"`},
		{"a link to such a one", "write_file", args{"path": "plain", "content": "x"}, `write plain (which is "` + w.root + `/odd\nname")`},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Contains(t, w.previewed(tt.tool, tt.args)+"\n", tt.want) })
	}
	t.Run("from a directory behind a link", func(t *testing.T) {
		w.link("root", "alias")
		w.Dir = w.base + "/alias"
		require.Contains(t, w.previewed("write_file", args{"path": "./sub/b.txt", "content": "x"}), "create sub/b.txt\n")
		require.Contains(t, w.previewed("delete", args{"path": "sub", "recursive": true}), "delete sub and")
	})
}
