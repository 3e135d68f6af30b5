//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FO-11: a pipe that nobody writes to must not hold up a call.
func TestIrregularFilesAreRefusedAtOnce(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	require.NoError(t, syscall.Mkfifo(w.root+"/pipe", 0o644))
	listener, err := net.Listen("unix", w.root+"/s")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	w.link("pipe", "root/link")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for path, kind := range map[string]string{"pipe": "named pipe", "link": "named pipe", "s": "socket"} {
		for operation, more := range map[string]args{
			"read_file": {}, "edit_file": {"old_string": "a", "new_string": "b"}, "write_file": {"content": "x"},
		} {
			more["path"] = path
			got := w.Call(ctx, operation, more)
			require.Equal(t, invalid, got.Err.GetCategory(), "%s %s", operation, path)
			require.Contains(t, got.Err.GetMessage(), kind)
		}
	}
	types := map[string]string{}
	for _, e := range w.must("list_directory", args{})["entries"].([]any) {
		entry := e.(map[string]any)
		types[entry["name"].(string)] = entry["type"].(string)
	}
	require.Equal(t, map[string]string{"pipe": "pipe", "s": "socket", "link": "link"}, types)
}

// FO-12
func TestReadOneLineOfAHugeFile(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/big", "first\n")
	require.NoError(t, os.Truncate(w.root+"/big", 2<<30))
	w.must("read_file", args{"path": "big", "limit": 1})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := w.must("read_file", args{"path": "big", "limit": 1})
	runtime.ReadMemStats(&after)
	require.Equal(t, "first\n", got["content"])
	require.Equal(t, true, got["truncated"])
	require.Equal(t, 2., got["next_offset"])
	require.NotContains(t, got, "total_lines")
	require.NotContains(t, got, "sha256")
	require.Equal(t, float64(2<<30), got["size"])
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// FO-23
func TestModeStays(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/s.sh", "#!/bin/sh\necho hi\n")
	for _, mode := range []os.FileMode{0o755, 0o600, 0o664, 0o700 | os.ModeSetuid} {
		require.NoError(t, os.Chmod(w.root+"/s.sh", mode))
		w.must("read_file", args{"path": "s.sh"})
		w.must("edit_file", args{"path": "s.sh", "old_string": "#!/bin/sh", "new_string": "#!/bin/sh -e"})
		require.Equal(t, mode, w.mode("root/s.sh"))
		w.must("write_file", args{"path": "s.sh", "content": "#!/bin/sh\necho ho\n"})
		require.Equal(t, mode, w.mode("root/s.sh"))
	}
}

// FO-25: as the description of write_file says.
func TestHardLinksKeepTheOldContent(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/x", "a\n")
	require.NoError(t, os.Link(w.root+"/x", w.root+"/y"))
	w.must("read_file", args{"path": "x"})
	w.must("write_file", args{"path": "x", "content": "b\n"})
	require.Equal(t, "b\n", w.bytes("root/x"))
	require.Equal(t, "a\n", w.bytes("root/y"))
}

func ordinaryUser(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("the superuser may do everything")
	}
}

// FO-09
func TestDirectoryThatCannotBeSearched(t *testing.T) {
	ordinaryUser(t)
	w := newWorld(t, nil)
	w.put("root/wx/in/f", "hi\n")
	require.NoError(t, os.Chmod(w.root+"/wx", 0o311))
	t.Cleanup(func() { require.NoError(t, os.Chmod(w.root+"/wx", 0o755)) })
	got := w.Call(t.Context(), "read_file", args{"path": "wx/in/f"})
	require.Equal(t, denied, got.Err.GetCategory())
	require.Contains(t, got.Err.GetMessage(), "directory wx")
}

// FO-26
func TestDirectoryThatCannotBeWritten(t *testing.T) {
	ordinaryUser(t)
	w := newWorld(t, nil)
	w.put("root/d/f", "a\n")
	require.NoError(t, os.Chmod(w.root+"/d", 0o555))
	t.Cleanup(func() { require.NoError(t, os.Chmod(w.root+"/d", 0o755)) })
	w.must("read_file", args{"path": "d/f"})
	e := w.refused("edit_file", args{"path": "d/f", "old_string": "a", "new_string": "b"}, denied)
	require.Contains(t, e.GetMessage(), "its directory d ")
	w.refused("write_file", args{"path": "d/new/f", "content": "b"}, denied)
}

func TestReadOnlyFileIsNotReplaced(t *testing.T) {
	ordinaryUser(t)
	w := newWorld(t, nil)
	w.put("root/f", "a\n")
	require.NoError(t, os.Chmod(w.root+"/f", 0o444))
	w.must("read_file", args{"path": "f"})
	w.refused("edit_file", args{"path": "f", "old_string": "a", "new_string": "b"}, denied)
}

func TestUnreadableDirectoriesAreCounted(t *testing.T) {
	ordinaryUser(t)
	w := newWorld(t, nil)
	w.put("root/shut/f", "")
	w.put("root/open/f", "")
	require.NoError(t, os.Chmod(w.root+"/shut", 0))
	t.Cleanup(func() { require.NoError(t, os.Chmod(w.root+"/shut", 0o755)) })
	got := w.must("list_directory", args{"depth": 2})
	require.Equal(t, []string{"open", "shut", "open/f"}, entryNames(got))
	require.Equal(t, 1., got["unread"])
	require.Contains(t, got["note"], "could not be read")
}

// FO-06: a directory is swapped for a link that leads out while calls run.
func TestSwappedDirectoryLeadsNowhere(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	w.put("root/sub/f", "in\n")
	w.put("out/f", "OUT\n")
	stop := w.swap()
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for i := range rounds {
		got := w.Call(t.Context(), "read_file", args{"path": "sub/f"})
		if got.Err == nil {
			require.Equal(t, "in\n", got.Result["content"])
		} else {
			require.Contains(t, []any{notFound, denied}, got.Err.GetCategory(), got.Err.GetMessage())
		}
		if i%4 == 0 {
			got = w.Call(t.Context(), "write_file", args{"path": "sub/w", "content": "w", "create_parents": false})
			if got.Err != nil {
				require.Contains(t, []any{notFound, denied, conflicts}, got.Err.GetCategory(), got.Err.GetMessage())
			}
		}
	}
	stop()
	require.Equal(t, "in\n", w.must("read_file", args{"path": "sub/f"})["content"])
	entries, err := os.ReadDir(w.base + "/out")
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, "OUT\n", w.bytes("out/f"))
	require.NoError(t, filepath.Walk(w.root, func(name string, _ os.FileInfo, err error) error {
		require.False(t, strings.HasSuffix(name, ".tmp"), name)
		return err
	}))
}

// swap exchanges root/sub for a link to out and back, until the returned
// function is called.
func (w world) swap() (stop func()) {
	sub, aside := w.root+"/sub", w.root+"/s2"
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			for _, err := range []error{os.Rename(sub, aside), os.Symlink(w.base+"/out", sub), os.Remove(sub), os.Rename(aside, sub)} {
				if err != nil {
					w.t.Error(err)
					return
				}
			}
		}
	}()
	stop = sync.OnceFunc(func() {
		close(end)
		<-ended
	})
	w.t.Cleanup(stop) // before the tree is removed, also when the test has failed
	return stop
}

// A directory goes whole or not at all.
func TestDirectoryThatCannotBeEmptied(t *testing.T) {
	ordinaryUser(t)
	w := newWorld(t, nil)
	w.put("root/tree/a", "")
	w.put("root/tree/shut/f", "")
	require.NoError(t, os.Chmod(w.root+"/tree/shut", 0o555))
	t.Cleanup(func() { require.NoError(t, os.Chmod(w.root+"/tree/shut", 0o755)) })
	w.refused("delete", args{"path": "tree", "recursive": true}, denied)
}

// A copy that fails half way leaves nothing, not even what cannot be written.
func TestCopyThatFailsIsClearedAway(t *testing.T) {
	ordinaryUser(t)
	w := newWorld(t, nil)
	w.put("root/tree/shut/f", "f")
	w.put("root/tree/z", "unreadable")
	require.NoError(t, os.Chmod(w.root+"/tree/shut", 0o555))
	require.NoError(t, os.Chmod(w.root+"/tree/z", 0))
	t.Cleanup(func() { require.NoError(t, os.Chmod(w.root+"/tree/shut", 0o755)) })
	before := names(t, w.root)
	got := w.Call(t.Context(), "copy", args{"source": "tree", "destination": "copy"})
	require.Equal(t, denied, got.Err.GetCategory(), got.Err.GetMessage())
	require.Equal(t, before, names(t, w.root))
	require.NoError(t, os.Chmod(w.root+"/tree/z", 0o600))
	w.must("copy", args{"source": "tree", "destination": "copy"})
	require.Equal(t, os.ModeDir|0o555, w.mode("root/copy/shut"))
	require.NoError(t, os.Chmod(w.root+"/copy/shut", 0o755))
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
