package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plan says what would be done; a result, what was.
func TestApplyEditsIsToldInItsTense(t *testing.T) {
	out := applyOut{Applied: []fileChanged{{Path: "a", Change: "created"}, {Path: "b", Change: "deleted"}}}
	require.Equal(t, "create a", out.nodes(planned)[0].GetText().GetContent())
	require.Equal(t, "delete b", out.nodes(planned)[2].GetText().GetContent())
	require.Equal(t, "created a", out.nodes(nil)[0].GetText().GetContent())
}

func TestApplyEdits(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a.go", "package a\r\n\r\nfunc Old() {}\r\n")
	w.put("root/b.go", "package b\n\nvar x = a.Old()\n")
	w.put("root/gone.go", "package gone\n")
	w.link("b.go", "root/link")
	require.NoError(t, os.Chmod(w.root+"/b.go", 0o640))
	w.must("read_many", args{"paths": []any{"a.go", "b.go"}})
	got := w.must("apply_edits", args{"files": []any{
		args{"path": "a.go", "edits": []any{args{"old_string": "Old", "new_string": "New"}}},
		args{"path": "link", "edits": []any{args{"old_string": "a.Old()\n", "new_string": "a.New()\n"}}},
		args{"path": "new/dir/c.go", "content": "package c\n"},
		args{"path": "gone.go", "delete": true},
	}})
	require.Equal(t, "package a\r\n\r\nfunc New() {}\r\n", w.bytes("root/a.go"))
	require.Equal(t, "package b\n\nvar x = a.New()\n", w.bytes("root/b.go"))
	require.Equal(t, os.FileMode(0o640), w.mode("root/b.go"))
	require.Equal(t, "package c\n", w.bytes("root/new/dir/c.go"))
	require.NoFileExists(t, w.root+"/gone.go")
	var changes []any
	for _, f := range got["applied"].([]any) {
		changes = append(changes, f.(args)["change"])
	}
	require.Equal(t, []any{"edited", "edited", "created", "deleted"}, changes)
	require.Contains(t, got["applied"].([]any)[0].(args)["diff"], "+func New() {}")
	w.noTemporaryFiles()

	// Each file is undone by itself; what was written is known to the session.
	w.must("edit_file", args{"path": "new/dir/c.go", "old_string": "c\n", "new_string": "d\n"})
	for _, path := range []string{"a.go", "b.go", "new/dir/c.go", "new/dir/c.go", "gone.go"} {
		w.must("undo", args{"path": path})
	}
	require.Equal(t, "package a\r\n\r\nfunc Old() {}\r\n", w.bytes("root/a.go"))
	require.Equal(t, "package gone\n", w.bytes("root/gone.go"))
	require.NoDirExists(t, w.root+"/new", "the directories made for it go with it")
}

func TestApplyEditsIsAllOrNothing(t *testing.T) {
	readOnly := t.TempDir()
	w := newWorld(t, args{"read_only_roots": []any{readOnly}})
	w.put("root/a", "one\n")
	w.put("root/b", "two\ntwo\n")
	w.put("root/unread", "x\n")
	w.put("root/dir/f", "")
	w.put("out.txt", "SECRET")
	w.link("../out.txt", "root/leak")
	w.must("read_many", args{"paths": []any{"a", "b"}})
	good := args{"path": "a", "edits": []any{args{"old_string": "one", "new_string": "1"}}}
	fresh := args{"path": "new/f", "content": "x"}
	edit := func(path, old string) args {
		return args{"path": path, "edits": []any{args{"old_string": old, "new_string": "y"}}}
	}
	for _, tt := range []struct {
		name  string
		files []any
		want  any
		says  string
	}{
		{"no files", []any{}, invalid, "between 1 and"},
		{"nothing to do", []any{args{"path": "a"}}, invalid, "give one"},
		{"two ways", []any{args{"path": "a", "content": "x", "delete": true}}, invalid, "give one"},
		{"twice", []any{good, args{"path": "./a", "content": "x"}}, invalid, "are the same file"},
		{"ambiguous", []any{good, fresh, edit("b", "two")}, invalid, "file 3 of 3"},
		{"no match", []any{good, fresh, edit("b", "zwei")}, notFound, "no file was changed"},
		{"missing", []any{good, fresh, edit("bb", "x")}, notFound, "did you mean b?"},
		{"unread", []any{good, fresh, edit("unread", "x")}, failed, "has not read"},
		{"a link out", []any{good, fresh, edit("leak", "S")}, denied, "outside"},
		{"outside", []any{good, fresh, args{"path": "../out.txt", "delete": true}}, denied, "outside"},
		{"read-only", []any{good, fresh, args{"path": readOnly + "/f", "content": "x"}}, denied, "read-only"},
		{"a directory", []any{good, fresh, args{"path": "dir", "delete": true}}, invalid, "director"},
		{"other hash", []any{good, fresh, args{"path": "b", "content": "x", "expected_sha256": "00"}}, conflicts, "has changed"},
		{"other hash of one to delete", []any{good, args{"path": "b", "delete": true, "expected_sha256": "00"}}, conflicts, "has changed"},
		{"nothing to delete", []any{good, args{"path": "c", "delete": true}}, notFound, "c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := w.tree()
			got := w.Call(t.Context(), "apply_edits", args{"files": tt.files})
			require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
			require.Contains(t, got.Err.GetMessage(), tt.says)
			require.Equal(t, before, w.tree())
			_, err := w.Preview(t.Context(), "apply_edits", args{"files": tt.files})
			require.Error(t, err, "a preview refuses like the call")
			require.Equal(t, before, w.tree())
		})
	}
	got := w.Call(t.Context(), "apply_edits", args{"files": []any{fresh}, "create_parents": false})
	require.Equal(t, notFound, got.Err.GetCategory())
}
