package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What is kept for undo lies on the disk that is written to: when that is full, it gives way, and undo says so.
func TestFullDisk(t *testing.T) {
	for name, size := range map[string]int{"copied": 200 << 10, "held": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			w := fullWorld(t, 6<<20)
			body := func(n int) string { return fmt.Sprintln(n) + strings.Repeat("a line\n", size/7) }
			w.must("write_file", args{"path": "f", "content": body(0)})
			const times = 40
			for n := 1; n <= times; n++ {
				w.must("edit_file", args{"path": "f", "old_string": fmt.Sprintln(n - 1), "new_string": fmt.Sprintln(n)})
			}
			require.Equal(t, body(times), w.bytes("root/f"))
			undone := 0
			for ; ; undone++ {
				got := w.Call(t.Context(), "undo", args{"path": "f"})
				if got.Err != nil {
					// Or there was no room for a copy while the new content was written.
					require.Regexp(t, "not kept, because (the disk was full when a later change was made|.*no space left)", got.Err.GetMessage())
					break
				}
			}
			require.Positive(t, undone, "what came since can be taken back")
			require.Equal(t, body(times-undone), w.bytes("root/f"))

			e := w.refused("write_file", args{"path": "huge", "content": strings.Repeat("x", 3<<20) + strings.Repeat("y", 4<<20)}, failed)
			require.Contains(t, e.GetMessage(), "no space left")
			w.noTemporaryFiles()
			w.must("write_file", args{"path": "small", "content": "x"})
		})
	}
}

// fullWorld is a world on a file system of its own, of so many bytes.
func fullWorld(t *testing.T, size int) world {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		t.Skipf("a small file system needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	t.Setenv("XDG_CACHE_HOME", dir+"/cache")
	base := dir + "/base"
	require.NoError(t, os.Mkdir(base, 0o755))
	return newWorldIn(t, base, args{"require_read_before_write": false})
}
