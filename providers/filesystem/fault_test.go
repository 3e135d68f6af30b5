//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
	"github.com/agentco/agent/sdk/sdktest"
)

// fault is one thing that goes wrong: the nth that changes the disk.
type fault struct{ n, count int }

var errFault = errors.New("injected fault")

func (f *fault) strikes() bool {
	f.count++
	return f.count == f.n
}

// faulty is a jail with a fault, also where a directory of it is pinned.
type faulty struct {
	*jail.Jail
	fault *fault
}

func (f faulty) PinDir(dir string) (afero.Fs, func() error, error) {
	pinned, end, err := f.Jail.PinDir(dir)
	if err != nil {
		return nil, nil, err
	}
	return faulty{pinned.(*jail.Jail), f.fault}, end, nil
}

func (f faulty) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&os.O_CREATE != 0 && f.fault.strikes() {
		return nil, errFault
	}
	file, err := f.Jail.OpenFile(name, flag, perm)
	if err != nil || flag&os.O_CREATE == 0 {
		return file, err
	}
	return faultyFile{file, f.fault}, nil
}

func (f faulty) either(do func() error) error {
	if f.fault.strikes() {
		return errFault
	}
	return do()
}

func (f faulty) Rename(from, to string) error {
	return f.either(func() error { return f.Jail.Rename(from, to) })
}

func (f faulty) RenameNew(from, to string) error {
	return f.either(func() error { return f.Jail.RenameNew(from, to) })
}

func (f faulty) Link(from, to string) error {
	return f.either(func() error { return f.Jail.Link(from, to) })
}

func (f faulty) Remove(name string) error {
	return f.either(func() error { return f.Jail.Remove(name) })
}

func (f faulty) Mkdir(name string, perm fs.FileMode) error {
	return f.either(func() error { return f.Jail.Mkdir(name, perm) })
}

// MkdirAll makes some of the directories before it fails.
func (f faulty) MkdirAll(name string, perm fs.FileMode) error {
	if f.fault.strikes() {
		return errors.Join(errFault, f.Jail.MkdirAll(filepath.Dir(name), perm))
	}
	return f.Jail.MkdirAll(name, perm)
}

func (f faulty) Chmod(name string, mode fs.FileMode) error {
	return f.either(func() error { return f.Jail.Chmod(name, mode) })
}

func (f faulty) SymlinkIfPossible(target, name string) error {
	return f.either(func() error { return f.Jail.SymlinkIfPossible(target, name) })
}

func (f faulty) RemoveTree(ctx context.Context, name string) (int, error) {
	if f.fault.strikes() {
		return 0, errFault
	}
	return f.Jail.RemoveTree(ctx, name)
}

type faultyFile struct {
	afero.File
	fault *fault
}

func (f faultyFile) Write(p []byte) (int, error) {
	if f.fault.strikes() {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, errFault
	}
	return f.File.Write(p)
}

func (f faultyFile) Sync() error {
	if f.fault.strikes() {
		return errFault
	}
	return f.File.Sync()
}

// withFault is a provider over two roots with a fault, and where its journal is.
func withFault(t *testing.T, f *fault) (w world, journal string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w = world{t: t, base: base, root: filepath.Join(base, "root")}
	for _, dir := range []string{"root", "second"} {
		require.NoError(t, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	journal = t.TempDir()
	p := sdk.New[config]("filesystem", "with a fault")
	p.Setup(func(_ context.Context, c *config, _ sdk.Env) error {
		j, err := jail.New(jail.Options{Roots: []string{w.root, base + "/second"}, Own: atomicfile.IsTemp})
		if err != nil {
			return err
		}
		c.files = &workspace{files: faulty{j, f}, maxResult: c.MaxResult, memory: semaphore.NewWeighted(heldRoom), close: j.Close}
		c.files.writer.FS = c.files.files
		if c.files.writer.Journal, err = atomicfile.OpenJournal(journal); err != nil {
			return err
		}
		c.files.undos.Dir = c.files.writer.Journal.Scratch
		return nil
	}).Close(func(c *config) error { return errors.Join(c.files.writer.Journal.Close(), c.files.close()) })
	operations(p)
	w.Harness = sdktest.Start(t, p, args{"allowed_roots": []any{w.root}})
	w.Dir = w.root
	return w, journal
}

// Whatever single thing goes wrong: after an error all is as before, and nothing
// lies about.
func TestFaultsLeaveEverythingAsItWas(t *testing.T) {
	for _, tt := range []struct {
		name, operation string
		args            args
		first           func(w world) // comes before, without a fault
	}{
		{"a new file", "write_file", args{"path": "x/y/z", "content": "new"}, nil},
		{"a write", "write_file", args{"path": "a", "content": "new"}, nil},
		{"an edit", "edit_file", args{"path": "a", "old_string": "a", "new_string": "b"}, nil},
		{"edits", "apply_edits", args{"files": []any{
			args{"path": "a", "edits": []any{args{"old_string": "a", "new_string": "b"}}},
			args{"path": "x/y/z", "content": "new"}, args{"path": "x/w", "content": "new"}, args{"path": "b", "delete": true}, args{"path": "dir/f", "content": "new"},
		}}, nil},
		{"an edit of a large file", "edit_file", args{"path": "large", "old_string": "first", "new_string": "1st"}, nil},
		{"an edit of a file that is held", "edit_file", args{"path": "huge", "old_string": "first", "new_string": "1st"}, nil},
		{"edits of a large file", "apply_edits", args{"files": []any{
			args{"path": "large", "edits": []any{args{"old_string": "first", "new_string": "1st"}}}, args{"path": "a", "content": "new"},
		}}, nil},
		{"directories", "create_directory", args{"path": "x/y/z"}, nil},
		{"a move", "move", args{"source": "a", "destination": "c"}, nil},
		{"a move over", "move", args{"source": "a", "destination": "b", "overwrite": true}, nil},
		{"a move to another root", "move", args{"source": "dir", "destination": "../second/dir"}, nil},
		{"a move over in another root", "move", args{"source": "a", "destination": "../second/f", "overwrite": true}, nil},
		{"a copy", "copy", args{"source": "a", "destination": "b", "overwrite": true}, nil},
		{"a copied tree", "copy", args{"source": "dir", "destination": "dir2"}, nil},
		{"a deletion", "delete", args{"path": "a"}, nil},
		{"a deleted tree", "delete", args{"path": "dir", "recursive": true}, nil},
		{"an undone write", "undo", args{"path": "a"}, func(w world) { w.must("write_file", args{"path": "a", "content": "new"}) }},
		{"an undone deletion", "undo", args{"path": "dir/f"}, func(w world) {
			w.must("delete", args{"path": "dir/f"})
			require.NoError(w.t, os.RemoveAll(w.root+"/dir"))
		}},
		{"an undone file", "undo", args{"path": "x/y"}, func(w world) { w.must("write_file", args{"path": "x/y", "content": "new"}) }},
		{"an undone move", "undo", args{"path": "b", "destination": "a"}, func(w world) {
			w.must("move", args{"source": "a", "destination": "b", "overwrite": true})
		}},
		{"an undone move out of a directory", "undo", args{"path": "b", "destination": "dir/sub/g"}, func(w world) {
			w.must("move", args{"source": "dir/sub/g", "destination": "b", "overwrite": true})
			require.NoError(w.t, os.RemoveAll(w.root+"/dir"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; ; n++ {
				f := &fault{}
				w, journal := withFault(t, f)
				w.put("root/a", "a\n")
				w.put("root/b", "b\n")
				w.put("root/large", "first\n"+strings.Repeat("a line\n", slowToHash/7))
				w.put("root/huge", "first\n"+strings.Repeat("a line\n", 300<<10/7))
				w.put("root/dir/f", "f\n")
				w.put("second/f", "second\n")
				w.put("root/dir/sub/g", "g\n")
				w.link("f", "root/dir/link")
				if tt.first != nil {
					tt.first(w)
				}
				before, kept := w.contents(), keptIn(t, journal)
				f.n, f.count = n, 0
				got := w.Call(t.Context(), tt.operation, tt.args)
				if f.count < n {
					require.Nil(t, got.Err)
					require.NotEqual(t, before, w.contents())
					require.Greater(t, n, 1, "no fault was injected")
					return
				}
				if got.Err != nil {
					require.Equal(t, before, w.contents(), "fault %d: %s", n, got.Err.GetMessage())
					require.Equal(t, kept, keptIn(t, journal), "fault %d: what is not changed need not be kept", n)
					f.n = 0
					w.must(tt.operation, tt.args) // the same again goes well
				}
				entries, err := os.ReadDir(journal)
				require.NoError(t, err)
				require.LessOrEqual(t, len(entries), 2, "of one process, its notes and what it keeps")
			}
		})
	}
}

// keptIn is how much is set aside for undo in each file that holds something.
func keptIn(t *testing.T, journal string) map[string]int64 {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(journal, "*.kept", "*"))
	require.NoError(t, err)
	kept := map[string]int64{}
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		if info.Size() > 0 {
			kept[name] = info.Size()
		}
	}
	return kept
}
