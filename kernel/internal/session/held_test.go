package session

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

// Who opens a session that is being written sees what had been reported, also while its database is behind, and the
// writer finds its own rows there without a double.
func TestReaderIsNotBehind(t *testing.T) {
	l := began(t, Meta{})
	_, err := l.Append(toolCall("first")).Wait(t.Context())
	require.NoError(t, err)
	const calls = 60
	for i := range calls {
		id := fmt.Sprint("call-", i)
		l.Append(toolCall(id))
		l.Append(plan(id))
		l.Print(Output{CallID: id, Stream: Stdout, Data: []byte("output of " + id)})
		n, err := l.Append(toolResult(id)).Wait(t.Context())
		require.NoError(t, err)
		f := reading(t, l.Path())
		all := eventsOf(t, f)
		require.GreaterOrEqual(t, len(all), int(n))
		require.Equal(t, Running, f.Meta().Status)
		require.Len(t, outputOf(t, f, id), 1)
		f.Close()
	}
	require.FileExists(t, tailOf(l.Path()))
	require.NoError(t, l.Close(Completed))
	require.NoFileExists(t, tailOf(l.Path()))
	requireWhole(t, l.Path(), calls, Completed)
}

// A writer that is stopped in the middle of a commit holds its database, and is read nevertheless.
func TestDatabaseIsHeld(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l := began(t, Meta{})
	behind(t, l)
	for i := range 5 {
		id := fmt.Sprint("call-", i)
		l.Append(toolCall(id))
		l.Append(plan(id))
		l.Print(Output{CallID: id, Stream: Stdout, Data: []byte("output of " + id)})
		_, err := l.Append(toolResult(id)).Wait(t.Context())
		require.NoError(t, err)
	}
	f := reading(t, l.Path())
	require.Equal(t, l.Path(), f.Path())
	require.Equal(t, Running, f.Meta().Status)
	require.Len(t, eventsOf(t, f), 16)
	f.Close()
	rest, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, rest, "the copy is gone")
}

// Many write and many read, and all of it is there once.
func TestReadersAndWriters(t *testing.T) {
	l := began(t, Meta{})
	_, err := l.Append(toolCall("first")).Wait(t.Context())
	require.NoError(t, err)
	var writers, readers sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		writers.Go(func() {
			for range 100 {
				id := ulid.Make().String()
				l.Append(toolCall(id))
				l.Print(Output{CallID: id, Stream: Stdout, Data: []byte("output of " + id)})
				_, err := l.Append(toolResult(id)).Wait(context.Background())
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				v, err := Verify(context.Background(), l.Path())
				if err != nil || len(v.Problems) > 0 {
					t.Error(err, v)
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(over)
	readers.Wait()
	require.NoError(t, l.Close(Completed))
	v, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.EqualValues(t, 801, v.Events)
}

// free reports whether nobody holds the lock of a session, not even to look after it.
func free(t *testing.T, path string) bool {
	t.Helper()
	l, free, err := seize(path)
	require.NoError(t, err)
	if free {
		require.NoError(t, l.Unlock())
	}
	return free
}

// A database that takes nothing in is told to whoever appends, costs nothing that was reported, and is used again.
func TestDatabaseIsStuck(t *testing.T) {
	l := began(t, Meta{})
	_, err := l.Append(toolCall("first")).Wait(t.Context())
	require.NoError(t, err)
	change(t, l.Path(), "CREATE TRIGGER stuck BEFORE INSERT ON events WHEN NEW.kind = 'plan' BEGIN SELECT raise(ABORT, 'the disk has died'); END")
	l.Append(toolCall("call-0"))
	_, err = l.Append(plan("call-0")).Wait(t.Context())
	require.NoError(t, err, "the tail has it")
	l.Print(Output{CallID: "call-0", Stream: Stdout, Data: []byte("output of call-0")})
	for err == nil {
		_, err = l.Append(Entry{Kind: "message", ID: ulid.Make().String()}).Wait(t.Context())
	}
	require.ErrorContains(t, err, "the disk has died")
	require.ErrorContains(t, err, l.Path())
	require.FileExists(t, tailOf(l.Path()))
	change(t, l.Path(), "DROP TRIGGER stuck; CREATE TRIGGER once BEFORE INSERT ON events WHEN NEW.kind = 'nothing' BEGIN SELECT 1; END; DROP TRIGGER once")
	_, err = l.Append(toolResult("call-0")).Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, l.Close(Completed))
	v, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	f := reading(t, l.Path())
	var kinds []string
	for _, e := range eventsOf(t, f) {
		if e.Kind != "message" {
			kinds = append(kinds, string(e.Kind))
		}
	}
	require.Equal(t, "tool_call tool_call plan tool_result", strings.Join(kinds, " "))
}

// What the database never takes in is still in the tail when the log is closed, and found when it can be.
func TestClosedWhileStuck(t *testing.T) {
	var l *Log
	for reported := false; !reported; { // before it is known that the database is stuck, which a slow machine may be too late for
		var err error
		l, err = NewLog(t.TempDir(), Meta{ID: ulid.Make().String()}, nil)
		require.NoError(t, err)
		_, err = l.Append(toolCall("first")).Wait(t.Context())
		require.NoError(t, err)
		change(t, l.Path(), "CREATE TRIGGER stuck BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'the disk has died'); END")
		l.Append(toolCall("call-0"))
		l.Append(plan("call-0"))
		l.Print(Output{CallID: "call-0", Stream: Stdout, Data: []byte("output of call-0")})
		_, err = l.Append(toolResult("call-0")).Wait(t.Context())
		if reported = err == nil; !reported {
			require.ErrorContains(t, err, "the disk has died")
			require.ErrorContains(t, l.Close(Failed), "the disk has died")
		}
	}
	require.ErrorContains(t, l.Close(Completed), "the disk has died")
	require.FileExists(t, tailOf(l.Path()))
	_, err := Open(t.Context(), l.Path())
	require.ErrorContains(t, err, "the disk has died")
	require.FileExists(t, tailOf(l.Path()))
	change(t, l.Path(), "DROP TRIGGER stuck")
	requireWhole(t, l.Path(), 1, Interrupted)
}

// A flood that nobody waits for is bounded in memory, and as fast as the disk.
func TestMemoryIsBounded(t *testing.T) {
	l := began(t, Meta{})
	part := make([]byte, 256<<10)
	for range 200 {
		l.Append(Entry{Kind: "message", Payload: part})
		l.queue.mu.Lock()
		held := l.queue.held
		l.queue.mu.Unlock()
		require.LessOrEqual(t, held, memoryLimit+len(part)+1024)
	}
	require.NoError(t, l.Close(Completed))
	require.Len(t, eventsOf(t, reading(t, l.Path())), 200)
}
