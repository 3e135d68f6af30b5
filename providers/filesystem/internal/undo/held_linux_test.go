package undo

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// heldWorld is a store and a file that is to be replaced, on one file system.
type heldWorld struct {
	*Store
	dir, file string
}

func newHeldWorld(t *testing.T) heldWorld {
	t.Helper()
	w := heldWorld{dir: t.TempDir(), file: filepath.Join(t.TempDir(), "f")}
	w.Store = storeIn(t, w.dir)
	w.write(t, huge)
	return w
}

func (w heldWorld) write(t *testing.T, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.file, []byte(content), 0o600))
}

// hold holds the file as it is.
func (w heldWorld) hold(t *testing.T) *Held {
	t.Helper()
	info, err := os.Stat(w.file)
	require.NoError(t, err)
	return w.Hold(info, func() (*os.File, error) { return os.Open(w.file) })
}

// replace gives the name another file.
func (w heldWorld) replace(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.file+".new", []byte("new"), 0o600))
	require.NoError(t, os.Rename(w.file+".new", w.file))
}

// isOpen says how many files are held.
func (w heldWorld) isOpen(t *testing.T, files int64) {
	t.Helper()
	require.Equal(t, files, w.open.Load())
}

func TestHeldIsNoCopy(t *testing.T) {
	w := newHeldWorld(t)
	h := w.hold(t)
	require.NotNil(t, h)
	w.replace(t)
	c, ok := h.Keep("sum", 0o640)
	require.True(t, ok)
	names, _ := kept(t, w.dir)
	require.Empty(t, names)
	require.Equal(t, "sum", c.SHA256)
	require.EqualValues(t, 0o640, c.Mode)

	w.Add(&Record{Path: "/f", Before: c})
	require.EqualValues(t, len(huge), w.bytes, "it counts like a copy")
	require.Equal(t, huge, read(t, w.Last("", "/f").Before))
	reader, err := c.Open()
	require.NoError(t, err)
	w.Drop(w.Last("", "/f"))
	_, err = c.Open()
	require.ErrorIs(t, err, errDropped)
	first := make([]byte, 6)
	_, err = reader.Read(first)
	require.NoError(t, err, "who reads it already has it to the end")
	require.Equal(t, huge[:6], string(first))
	w.isOpen(t, 1)
	require.NoError(t, reader.Close())
	w.isOpen(t, 0)
}

// Where somebody may still write to it, or it would take room where a copy does not, a file is not held.
func TestNotHeld(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, w heldWorld)
	}{
		{"a small one", func(t *testing.T, w heldWorld) { w.write(t, large) }},
		{"one that is too large to be kept", func(t *testing.T, w heldWorld) { require.NoError(t, os.Truncate(w.file, MaxFile+1)) }},
		{"one with a second name", func(t *testing.T, w heldWorld) { require.NoError(t, os.Link(w.file, w.file+".link")) }},
		{"one of another file system", func(_ *testing.T, w heldWorld) { w.Dir = func() (string, error) { return "/proc", nil } }},
		{"one without a place for copies", func(_ *testing.T, w heldWorld) { w.Dir = func() (string, error) { return "", os.ErrPermission } }},
		{"one too many", func(_ *testing.T, w heldWorld) { w.open.Add(min(maxDescriptors, descriptors()/descriptorShare)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newHeldWorld(t)
			tt.before(t, w)
			before := w.open.Load()
			require.Nil(t, w.hold(t))
			w.isOpen(t, before)
		})
	}
	t.Run("another than was seen", func(t *testing.T) {
		w := newHeldWorld(t)
		info, err := os.Stat(w.file)
		require.NoError(t, err)
		require.Nil(t, w.Hold(info, func() (*os.File, error) {
			w.replace(t)
			return os.Open(w.file)
		}))
		require.Nil(t, w.Hold(info, func() (*os.File, error) { return nil, os.ErrPermission }))
		w.isOpen(t, 0)
	})
}

// What can still be changed when it has been replaced does not become a content.
func TestHeldThatMayChange(t *testing.T) {
	for _, tt := range []struct {
		name string
		held func(t *testing.T, w heldWorld)
	}{
		{"it has its name still", func(*testing.T, heldWorld) {}},
		{"it has got another name", func(t *testing.T, w heldWorld) {
			require.NoError(t, os.Link(w.file, w.file+".link"))
			w.replace(t)
		}},
		{"somebody has it open for writing", func(t *testing.T, w heldWorld) {
			f, err := os.OpenFile(w.file, os.O_WRONLY|os.O_APPEND, 0)
			require.NoError(t, err)
			t.Cleanup(func() { _ = f.Close() })
			w.replace(t)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newHeldWorld(t)
			h := w.hold(t)
			require.NotNil(t, h)
			tt.held(t, w)
			_, ok := h.Keep("sum", 0)
			require.False(t, ok)
			body, err := io.ReadAll(h.Reader())
			require.NoError(t, err)
			require.Equal(t, huge, string(body), "a copy can be made still")
			h.Release()
			h.Release()
			w.isOpen(t, 0)
		})
	}
}

// What lies on another disk does not give way: that would make no room.
func TestGiveWayOnOneDisk(t *testing.T) {
	w := newHeldWorld(t)
	h := w.hold(t)
	w.replace(t)
	c, ok := h.Keep("", 0)
	require.True(t, ok)
	w.Add(&Record{Path: "/f", Before: c})
	require.False(t, w.GiveWay("/proc"))
	require.Equal(t, huge, read(t, w.Last("", "/f").Before))
	require.True(t, w.GiveWay(filepath.Dir(w.file)))
	w.isOpen(t, 0)
}

// The end of a store lets go of all that is held.
func TestCloseLetsGo(t *testing.T) {
	w := newHeldWorld(t)
	for range 3 {
		w.write(t, huge)
		h := w.hold(t)
		w.replace(t)
		c, ok := h.Keep("", 0)
		require.True(t, ok)
		w.Add(&Record{Path: "/f", Before: c})
	}
	w.isOpen(t, 3)
	require.NoError(t, w.Close())
	w.isOpen(t, 0)
}
