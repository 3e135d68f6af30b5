package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// big is a file whose old content needs no copy when it is changed, and huge one that is not even held in memory.
var (
	big  = "first\n" + strings.Repeat("thirty-one bytes and a newline\n", 20_000)
	huge = "first\n" + strings.Repeat("thirty-one bytes and a newline\n", editLimit/31+1)
)

// deleted are the files of the world without a name that this process, in which the provider is, has open: as names by which
// they can be opened again.
func (w world) deleted() (names []string) {
	w.t.Helper()
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(w.t, err)
	for _, name := range descriptors {
		if file, err := os.Readlink(name); err == nil && strings.HasPrefix(file, w.base) && strings.HasSuffix(file, " (deleted)") {
			names = append(names, name)
		}
	}
	return names
}

// A large file that is replaced stays what it was, and is there again after an undo, however it was replaced.
func TestUndoOfWhatIsHeld(t *testing.T) {
	for _, tt := range []struct {
		name, body, operation string
		call                  args
		held                  int
	}{
		{"an edit", big, "edit_file", args{"path": "f", "old_string": "first", "new_string": "1st"}, 1},
		{"a write", big, "write_file", args{"path": "f", "content": "new"}, 1},
		{"a write over what is not held in memory", huge, "write_file", args{"path": "f", "content": "new"}, 1},
		{"one of several", big, "apply_edits", args{"files": []any{args{"path": "f", "content": "new"}}}, 0},
		{"a deletion", big, "delete", args{"path": "f"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, args{"require_read_before_write": false})
			w.put("root/f", tt.body)
			require.NoError(t, os.Chmod(w.root+"/f", 0o640))
			w.must(tt.operation, tt.call)
			// What is not held is closed beside what goes on.
			require.Eventually(t, func() bool { return len(w.deleted()) == tt.held }, time.Minute, time.Millisecond)
			got := w.must("undo", args{"path": "f"})
			require.Equal(t, "restored", got["undone"])
			require.Equal(t, tt.body, w.bytes("root/f"))
			require.EqualValues(t, 0o640, w.mode("root/f"))
		})
	}
}

// Who has a file open for writing goes on writing to what was replaced: undo restores what was there when it was.
func TestUndoOfWhatOthersHaveOpen(t *testing.T) {
	for name, body := range map[string]string{"large": big, "not held in memory": huge} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, args{"require_read_before_write": false})
			w.put("root/f", body)
			log, err := os.OpenFile(w.root+"/f", os.O_WRONLY|os.O_APPEND, 0)
			require.NoError(t, err)
			defer func() { require.NoError(t, log.Close()) }()
			w.must("write_file", args{"path": "f", "content": "new"})
			_, err = log.WriteString("later\n")
			require.NoError(t, err)
			w.must("undo", args{"path": "f"})
			require.Equal(t, body, w.bytes("root/f"))
		})
	}
}

// Other names of a file keep its content, and what becomes of that is not restored.
func TestUndoOfWhatHasAnotherName(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	w.put("root/f", big)
	require.NoError(t, os.Link(w.root+"/f", w.root+"/g"))
	w.must("edit_file", args{"path": "f", "old_string": "first", "new_string": "1st"})
	w.put("root/g", "short")
	w.must("undo", args{"path": "f"})
	require.Equal(t, big, w.bytes("root/f"))
}

// What was kept and is something else now, against all odds, is not taken for what there was.
func TestUndoChecksWhatIsHeld(t *testing.T) {
	for name, body := range map[string]string{"large": big, "not held in memory": huge} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, args{"require_read_before_write": false})
			w.put("root/f", body)
			w.must("write_file", args{"path": "f", "content": "new"})
			held := w.deleted()
			require.Len(t, held, 1)
			f, err := os.OpenFile(held[0], os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("F")
			require.NoError(t, err)
			require.NoError(t, f.Close())
			e := w.refused("undo", args{"path": "f"}, failed)
			require.Contains(t, e.GetMessage(), "something else has written to it")
			w.noTemporaryFiles()
		})
	}
}
