package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// behind holds the database of a log as it is, until the end of the test or a call of go on.
func behind(t *testing.T, l *Log) (goOn func()) {
	t.Helper()
	_, err := l.Append(toolCall("first")).Wait(t.Context()) // it is open then
	require.NoError(t, err)
	ctx := context.Background()
	db, conn, _, err := openWriter(ctx, l.Path())
	require.NoError(t, err)
	_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	require.NoError(t, err)
	goOn = sync.OnceFunc(func() {
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, db.Close())
	})
	t.Cleanup(goOn)
	return goOn
}

// killed is what a writer leaves that is killed with so many calls in its tail, and nothing of them in its database.
func killed(t *testing.T, calls int) (path string) {
	t.Helper()
	l := began(t, Meta{Command: "mcp"})
	goOn := behind(t, l)
	for i := range calls {
		id := fmt.Sprint("call-", i)
		l.Append(toolCall(id))
		l.Append(plan(id))
		l.Print(Output{CallID: id, Stream: Stdout, Data: []byte("output of " + id)})
		_, err := l.Append(toolResult(id)).Wait(t.Context())
		require.NoError(t, err)
	}
	path = filepath.Join(t.TempDir(), filepath.Base(l.Path()))
	for _, suffix := range []string{"", "-wal", tailSuffix} {
		content, err := os.ReadFile(l.Path() + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path+suffix, content, 0o600))
	}
	goOn()
	return path
}

// requireWhole holds a session to the calls that it must have, in their order.
func requireWhole(t *testing.T, path string, calls int, status Status) {
	t.Helper()
	v, err := Verify(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.EqualValues(t, 1+3*calls, v.Events)
	require.Equal(t, status, v.Meta.Status)
	f := reading(t, path)
	require.Nil(t, f.Salvage)
	n := 0
	for _, e := range eventsOf(t, f) {
		if e.Kind == ToolResult {
			id := fmt.Sprint("call-", n)
			require.Equal(t, id, callOf(t, e))
			require.Equal(t, "output of "+id, string(outputOf(t, f, id)[0].Data))
			n++
		}
	}
	require.Equal(t, calls, n)
	f.Close()
}

// What was reported and had not reached the database is there for everybody who looks, however they do.
func TestLeftover(t *testing.T) {
	for name, look := range map[string]func(t *testing.T, path string){
		"open": func(t *testing.T, path string) {
			f := reading(t, path)
			require.Len(t, eventsOf(t, f), 31)
			f.Close()
		},
		"verify": func(t *testing.T, path string) { requireWhole(t, path, 10, Interrupted) },
		"list": func(t *testing.T, path string) {
			all, err := Folder(filepath.Dir(path)).List(t.Context())
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.NoError(t, all[0].Err)
			require.EqualValues(t, 11, all[0].Calls)
		},
		"a log goes on": func(t *testing.T, path string) {
			l, err := NewLog(filepath.Dir(path), Meta{ID: pathID(path)}, func(w string) { t.Error(w) })
			require.NoError(t, err)
			n, err := l.Append(toolCall("next")).Wait(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 32, n)
			l.Print(Output{CallID: "next", Stream: Stderr, Data: []byte("more")})
			f := reading(t, path)
			require.Equal(t, Running, f.Meta().Status)
			f.Close()
			l.Append(toolResult("next"))
			require.NoError(t, l.Close(Completed))
			v, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.Empty(t, v.Problems)
			require.EqualValues(t, 33, v.Events)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, 10)
			info, err := os.Stat(tailOf(path))
			require.NoError(t, err)
			require.Positive(t, info.Size())
			look(t, path)
			require.NoFileExists(t, tailOf(path), "the database has it all")
			v, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.Empty(t, v.Problems)
			require.NoError(t, Folder(filepath.Dir(path)).Remove(pathID(path)))
			rest, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Empty(t, rest)
		})
	}
}

func TestRemoveTakesTheTail(t *testing.T) {
	path := killed(t, 3)
	folder := Folder(filepath.Dir(path))
	info, err := os.Stat(tailOf(path))
	require.NoError(t, err)
	before := sizeOf(path)
	require.NoError(t, os.Truncate(tailOf(path), 2*info.Size()))
	require.Equal(t, before+info.Size(), sizeOf(path), "it is among the files that a session consists of")
	require.NoError(t, folder.Remove(pathID(path)))
	rest, err := os.ReadDir(string(folder))
	require.NoError(t, err)
	require.Empty(t, rest)
}

// A tail that something has changed in the middle is put aside, what can be read of it is kept, and that something is
// missing shows.
func TestTailIsSalvaged(t *testing.T) {
	path := killed(t, 10)
	content, err := os.ReadFile(tailOf(path))
	require.NoError(t, err)
	content[len(content)/2] ^= 1
	require.NoError(t, os.WriteFile(tailOf(path), content, 0o600))
	f := reading(t, path)
	require.NotNil(t, f.Salvage)
	require.Contains(t, f.Salvage.Cause, "its tail is not what was written")
	require.EqualValues(t, 28, f.Salvage.Events)
	require.Len(t, eventsOf(t, f), 28)
	kept, err := os.ReadFile(f.Salvage.Kept)
	require.NoError(t, err)
	require.Equal(t, content, kept)
	f.Close()
	require.NoFileExists(t, tailOf(path))
	v, err := Verify(t.Context(), path)
	require.NoError(t, err)
	require.Len(t, v.Problems, 1)
	require.Contains(t, v.Problems[0].Text, "are missing before it")
	require.NoError(t, Folder(filepath.Dir(path)).Remove(pathID(path)))
	require.NoFileExists(t, f.Salvage.Kept)
}

// The tail of another session is none of this one, whatever it is called, and neither is what no tail could be.
func TestForeignTail(t *testing.T) {
	other := killed(t, 20)
	for name, put := range map[string]func(path string) error{
		"of another session": func(path string) error { return copyFile(tailOf(other), path) },
		"larger than any": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 100<<30))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, 1)
			require.NoError(t, os.Remove(tailOf(path)))
			require.NoError(t, put(tailOf(path)))
			v, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.Len(t, v.Problems, 1)
			require.Contains(t, v.Problems[0].Text, "its tail")
			require.LessOrEqual(t, v.Events, int64(1))
			require.NoFileExists(t, tailOf(path))
			require.NoError(t, Folder(filepath.Dir(path)).Remove(pathID(path)))
			rest, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Empty(t, rest)
		})
	}
}

// What a copy of a tail looks like behind its first frame that is not whole is no damage when the copy was made while it
// was written: the writer may have been there meanwhile.
func TestCopyOfALiveTail(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l := began(t, Meta{})
	behind(t, l) // so that a copy has to be read
	_, err := l.Append(toolCall("a")).Wait(t.Context())
	require.NoError(t, err)
	l.turn <- struct{}{}
	torn := *l.writer.tail
	<-l.turn
	torn.buf, torn.cuts, torn.at = nil, nil, torn.at+frameHead
	require.NoError(t, torn.write([]row{{kind: rowEvent, n: 9, at: time.Now(), event: toolCall("later")}}))
	f := reading(t, l.Path())
	require.Nil(t, f.Salvage)
	require.Len(t, eventsOf(t, f), 2)
	f.Close()
}

// How a session ended before it went on says nothing about where it ends now.
func TestKilledAfterItWentOn(t *testing.T) {
	path := killed(t, 3)
	for _, call := range []string{"once", "again"} {
		l, err := NewLog(filepath.Dir(path), Meta{ID: pathID(path)}, func(w string) { t.Error(w) })
		require.NoError(t, err)
		_, err = l.Append(toolCall(call)).Wait(t.Context())
		require.NoError(t, err)
		if call == "again" {
			copied := filepath.Join(t.TempDir(), filepath.Base(path))
			for _, suffix := range []string{tailSuffix, "-wal", ""} {
				require.NoError(t, copyFile(path+suffix, copied+suffix))
			}
			v, err := Verify(t.Context(), copied)
			require.NoError(t, err)
			require.Empty(t, v.Problems)
			require.EqualValues(t, 12, v.Events)
		}
		require.NoError(t, l.Close(Completed))
	}
}

// What a damaged database has lost is lost, and what the tail has is not.
func TestTailOfADamagedDatabase(t *testing.T) {
	path := killed(t, 10)
	require.NoError(t, os.Remove(path+"-wal"))
	require.NoError(t, os.WriteFile(path, []byte("hello\n"), 0o600))
	f := reading(t, path)
	require.NotNil(t, f.Salvage)
	require.Equal(t, pathID(path), f.Meta().ID)
	all := eventsOf(t, f)
	require.GreaterOrEqual(t, len(all), 30, "the first may have been in the database")
	require.Equal(t, "call-9", callOf(t, all[len(all)-1]))
	require.NoFileExists(t, tailOf(path))
}

// What makes this test binary a process that reads: which session.
const readerPath = "SESSION_TEST_READ"

// readerProcess opens a session and says what it found.
func readerProcess() {
	fmt.Println("opening")
	f, err := Open(context.Background(), os.Getenv(readerPath))
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	events := 0
	for _, err := range f.Events(context.Background()) {
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		events++
	}
	fmt.Println(events, f.Meta().Status, f.Salvage == nil)
	f.Close()
}

func reader(ctx context.Context, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), readerPath+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// Many that look after what a killed writer has left do not get into each other's way.
func TestRecoveryIsRaced(t *testing.T) {
	for range 5 {
		path := killed(t, 50)
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				out, err := reader(t.Context(), path).Output()
				if err != nil || string(out) != "opening\n151 interrupted true\n" {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		wait.Wait()
		require.NoFileExists(t, tailOf(path))
		requireWhole(t, path, 50, Interrupted)
	}
}

// Who is killed while looking after it leaves it to the next: waiting for the database, and at any moment.
func TestRecoveryIsKilled(t *testing.T) {
	t.Run("waiting", func(t *testing.T) {
		path := killed(t, 20)
		db, conn, _, err := openWriter(t.Context(), path)
		require.NoError(t, err)
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		require.NoError(t, err)
		cmd := reader(t.Context(), path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		require.True(t, bufio.NewScanner(out).Scan())
		require.Eventually(t, func() bool { return !free(t, path) }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		require.FileExists(t, tailOf(path))
		_, err = conn.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, db.Close())
		requireWhole(t, path, 20, Interrupted)
	})
	t.Run("whenever", func(t *testing.T) {
		for range 20 {
			path := killed(t, 20)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(30_000))*time.Microsecond)
			_ = reader(ctx, path).Run()
			cancel()
			requireWhole(t, path, 20, Interrupted)
		}
	})
}
