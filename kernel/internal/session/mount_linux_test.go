package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	require.ErrorContains(t, err, "make room", "whether the tail or the database notices first")
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

// held asks the writer of a log something while nothing is being written.
func held(l *Log, ask func(*writer) bool) bool {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return ask(l.writer)
}

// K32: the database has no room for what the tail still has: that is kept, the next is refused, and it goes on when there is.
func TestDiskFullBehindTheTail(t *testing.T) {
	disk := tmpfs(t, "size=1m")
	l, err := NewLog(disk, Meta{ID: ulid.Make().String()}, nil)
	require.NoError(t, err)
	payload := make([]byte, 200_000)
	_, err = l.Append(Entry{Kind: ToolCall, Payload: payload}).Wait(context.Background())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return held(l, func(w *writer) bool { return w.tail.at == 0 }) }, time.Minute, time.Millisecond)
	ballast := filepath.Join(disk, "ballast")
	require.Error(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600), "the disk is full now")

	_, err = l.Append(Entry{Kind: ToolCall, Payload: payload[:150_000]}).Wait(context.Background())
	require.NoError(t, err, "it is written over what the tail had before")
	require.Eventually(t, func() bool { return held(l, func(w *writer) bool { return w.stuck != nil }) }, time.Minute, time.Millisecond)
	_, err = l.Append(toolCall("b")).Wait(context.Background())
	require.ErrorContains(t, err, "full")
	require.NoError(t, os.Remove(ballast))
	_, err = l.Append(toolResult("b")).Wait(context.Background())
	require.NoError(t, err)
	require.NoError(t, l.Close(Completed))
	v, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.EqualValues(t, 3, v.Events)
}

// K32: a log that could not begin for want of room begins when there is, and nothing of before is taken for damage.
func TestDiskFullAtFirst(t *testing.T) {
	for _, room := range []int{0, 8 << 10, 40 << 10, 60 << 10} {
		disk := tmpfs(t, "size=1m")
		ballast, reserve := filepath.Join(disk, "ballast"), filepath.Join(disk, "reserve")
		require.NoError(t, os.WriteFile(reserve, make([]byte, room), 0o600))
		require.Error(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600), "the disk is full now")
		require.NoError(t, os.Remove(reserve))
		folder := filepath.Join(disk, "sessions")
		l, err := NewLog(folder, Meta{ID: ulid.Make().String()}, func(w string) { t.Error(w) })
		require.NoError(t, err)
		for range 2 {
			l.turn <- struct{}{}
			require.Error(t, l.writer.tryOpen(t.Context()), room)
			<-l.turn
		}
		require.NoError(t, os.Remove(ballast))
		_, err = l.Append(toolCall("a")).Wait(context.Background())
		require.NoError(t, err)
		require.NoError(t, l.Close(Completed))
		rest, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, rest, 1)
	}
}

// K32: what a killed writer has left is read where there is no room to take it in.
func TestDiskFullAfterwards(t *testing.T) {
	for _, room := range []int{0, 8 << 10, 40 << 10} {
		left, disk := killed(t, 40), tmpfs(t, "size=1m")
		path := filepath.Join(disk, filepath.Base(left))
		for _, suffix := range []string{"", "-wal", tailSuffix} {
			require.NoError(t, copyFile(left+suffix, path+suffix))
		}
		ballast, reserve := filepath.Join(disk, "ballast"), filepath.Join(disk, "reserve")
		require.NoError(t, os.WriteFile(reserve, make([]byte, room), 0o600))
		require.Error(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600), "the disk is full now")
		require.NoError(t, os.Remove(reserve))
		requireWhole(t, path, 40, Interrupted)
		require.FileExists(t, tailOf(path))
		require.NoError(t, os.Remove(ballast))
		requireWhole(t, path, 40, Interrupted)
		require.NoFileExists(t, tailOf(path))
	}
}

// A session can be read where nothing can be written, damaged or not, and what is damaged stays as it is there.
func TestReadOnlyMount(t *testing.T) {
	sound, broken, left := written(t, 300), written(t, 300), killed(t, 10)
	disk := tmpfs(t, "size=10m")
	for _, path := range []*string{&sound, &broken, &left} {
		for _, suffix := range []string{"", "-wal", tailSuffix} {
			require.NoError(t, copyFile(*path+suffix, filepath.Join(disk, filepath.Base(*path)+suffix)))
		}
		*path = filepath.Join(disk, filepath.Base(*path))
	}
	require.NoError(t, os.Truncate(broken, 100_000))
	require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	require.Len(t, eventsOf(t, reading(t, sound)), 900)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	requireWhole(t, left, 10, Interrupted)
	require.FileExists(t, tailOf(left))
	rest, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, rest, "the copy is gone")
	var damage *DamageError
	_, err = Open(t.Context(), broken)
	require.ErrorAs(t, err, &damage)

	l, err := NewLog(disk, Meta{ID: ulid.Make().String()}, nil)
	require.NoError(t, err)
	_, err = l.Append(toolCall("a")).Wait(context.Background())
	require.ErrorContains(t, err, "read-only")
	require.NoError(t, l.Close(Failed))
}

// What a session that is written has beyond its database is read from where neither can be written, too.
func TestReadOnlyMountOfALiveSession(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l := began(t, Meta{})
	behind(t, l)
	_, err := l.Append(toolCall("a")).Wait(t.Context())
	require.NoError(t, err)
	seen := tmpfs(t, "size=1m")
	require.NoError(t, unix.Mount(filepath.Dir(l.Path()), seen, "", unix.MS_BIND, ""))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(seen, unix.MNT_DETACH)) })
	require.NoError(t, unix.Mount("", seen, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	f := reading(t, filepath.Join(seen, filepath.Base(l.Path())))
	require.Nil(t, f.Salvage)
	require.Equal(t, Running, f.Meta().Status)
	require.Len(t, eventsOf(t, f), 2)
	f.Close()
	rest, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, rest, "the copy is gone")
}
