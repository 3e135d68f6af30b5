package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tmpfs is a small file system of its own.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a file system of a size of its own needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// K32: with a full disk an event is refused and told so, what was there stays, and it goes on when there is room.
func TestDiskFull(t *testing.T) {
	disk := tmpfs(t, "size=1m")
	l, err := NewLog(disk, Meta{ID: ulid.Make().String()}, nil)
	require.NoError(t, err)
	_, err = l.Append(toolCall("a")).Wait(context.Background())
	require.NoError(t, err)

	ballast := filepath.Join(disk, "ballast")
	require.Error(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600), "the disk is full now")
	l.Print(Output{CallID: "a", Stream: Stdout, Data: make([]byte, 300_000)})
	_, err = l.Append(Entry{Kind: ToolCall, Payload: make([]byte, 100_000)}).Wait(context.Background())
	require.ErrorIs(t, err, unix.ENOSPC)
	require.ErrorContains(t, err, l.Path())

	require.NoError(t, os.Remove(ballast))
	_, err = l.Append(toolResult("a")).Wait(context.Background())
	require.NoError(t, err)
	require.NoError(t, l.Close(Completed))
	v, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.EqualValues(t, 2, v.Events)
	f := reading(t, l.Path())
	output := outputOf(t, f, "a")
	require.Len(t, output, 1)
	require.EqualValues(t, 300_000, output[0].Skipped, "that output is missing is told")
}

// A session can be read where nothing can be written, damaged or not, and what is damaged stays as it is there.
func TestReadOnlyMount(t *testing.T) {
	sound, broken := written(t, 300), written(t, 300)
	disk := tmpfs(t, "size=10m")
	for _, path := range []string{sound, broken} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(disk, filepath.Base(path)), content, 0o600))
	}
	sound, broken = filepath.Join(disk, filepath.Base(sound)), filepath.Join(disk, filepath.Base(broken))
	require.NoError(t, os.Truncate(broken, 100_000))
	require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	require.Len(t, eventsOf(t, reading(t, sound)), 900)
	var damage *DamageError
	_, err := Open(t.Context(), broken)
	require.ErrorAs(t, err, &damage)

	l, err := NewLog(disk, Meta{ID: ulid.Make().String()}, nil)
	require.NoError(t, err)
	_, err = l.Append(toolCall("a")).Wait(context.Background())
	require.ErrorContains(t, err, "read-only")
	require.NoError(t, l.Close(Failed))
}
