package session

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

// What makes this test binary a process that writes: where, to which session, how many calls, 0 for no end, of how many
// bytes, and how many at a time.
const (
	writerFolder = "SESSION_TEST_FOLDER"
	writerID     = "SESSION_TEST_ID"
	writerCount  = "SESSION_TEST_COUNT"
	writerSize   = "SESSION_TEST_SIZE"
	writerMany   = "SESSION_TEST_MANY"
)

// writerProcess appends events and says the sequence of each, once it is told that it is safe.
func writerProcess() {
	var count, size, many int
	fmt.Sscan(os.Getenv(writerCount), &count)
	fmt.Sscan(os.Getenv(writerSize), &size)
	fmt.Sscan(os.Getenv(writerMany), &many)
	l, err := NewLog(os.Getenv(writerFolder), Meta{ID: os.Getenv(writerID)}, nil)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	var wait sync.WaitGroup
	for range max(1, many) {
		wait.Go(func() {
			for i := 0; i < count || count == 0; i++ {
				id := ulid.Make().String()
				l.Append(toolCall(id))
				l.Append(Entry{Kind: "message", Payload: make([]byte, size)})
				l.Print(Output{CallID: id, Stream: Stdout, Data: []byte("output of " + id)})
				n, err := l.Append(toolResult(id)).Wait(context.Background())
				if err != nil {
					fmt.Println("error:", err)
					os.Exit(1)
				}
				fmt.Println(n, id)
			}
		})
	}
	wait.Wait()
	if err := l.Close(Completed); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func process(t *testing.T, folder, id string, count int, more ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(more, writerFolder+"="+folder, writerID+"="+id, fmt.Sprintf("%s=%d", writerCount, count))...)
	cmd.Stderr = os.Stderr
	return cmd
}

// K30: many processes write one new file, one after another, and none of them hears that it is locked.
func TestProcessesShareAFile(t *testing.T) {
	folder, id := filepath.Join(t.TempDir(), "sessions"), ulid.Make().String()
	var wait sync.WaitGroup
	said := make([]string, 20)
	for i := range said {
		wait.Go(func() {
			out, err := process(t, folder, id, 50).Output()
			said[i] = string(out)
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
		})
	}
	wait.Wait()
	path := filepath.Join(folder, id+extension)
	v, err := Verify(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.EqualValues(t, 20*50*3, v.Events)
	f := reading(t, path)
	there := sequences(t, f)
	for _, text := range said {
		for line := range strings.Lines(text) {
			require.True(t, there[strings.TrimSpace(line)], line)
		}
	}
}

// sequences are the results of a session in the form in which a process says them.
func sequences(t *testing.T, f *File) map[string]bool {
	t.Helper()
	there := map[string]bool{}
	for _, e := range eventsOf(t, f) {
		if e.Kind == ToolResult {
			there[fmt.Sprint(e.Sequence, " ", callOf(t, e))] = true
		}
	}
	return there
}

// K30: what one connection is told holds for every connection.
func TestPragmasOfEveryConnection(t *testing.T) {
	l := began(t, Meta{})
	_, err := l.Append(toolCall("a")).Wait(context.Background())
	require.NoError(t, err)
	ctx := context.Background()
	db, first, warning, err := openWriter(ctx, l.Path())
	require.NoError(t, err)
	require.Empty(t, warning)
	second, err := db.Conn(ctx)
	require.NoError(t, err)
	for name, c := range map[string]interface {
		Close() error
	}{"first": first, "second": second} {
		t.Run(name, func(t *testing.T) {
			conn := first
			if name == "second" {
				conn = second
			}
			var mode string
			var timeout int
			require.NoError(t, conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode))
			require.NoError(t, conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&timeout))
			require.Equal(t, "wal", mode)
			require.Positive(t, timeout)
			require.NoError(t, c.Close())
		})
	}
	require.NoError(t, db.Close())
}

// What a process was told is safe survives its SIGKILL at any moment, in a file that verifies: also of one that writes so much
// that its tail begins anew all the time, and of one in which many write.
func TestKilledWriter(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		folder, id := filepath.Join(t.TempDir(), "sessions"), ulid.Make().String()
		cmd := process(t, folder, id, 0, [][]string{
			{}, {writerSize + "=400000"}, {writerMany + "=4"}, {writerMany + "=3", writerSize + "=300000"},
		}[round%4]...)
		outcomes := 1 + round*[]int{7, 1, 7, 1}[round%4]
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var said []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			said = append(said, lines.Text())
			if len(said) == outcomes {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		require.GreaterOrEqual(t, len(said), outcomes)
		path := filepath.Join(folder, id+extension)
		require.FileExists(t, lockOf(path))

		v, err := Verify(t.Context(), path)
		require.NoError(t, err)
		require.Empty(t, v.Problems)
		require.Equal(t, Interrupted, v.Meta.Status, "a session without a process does not run")
		f := reading(t, path)
		require.Nil(t, f.Salvage)
		there := sequences(t, f)
		for _, line := range said {
			require.True(t, there[line], "%q was said to be safe", line)
		}
	}
}

func TestAlive(t *testing.T) {
	folder, id := filepath.Join(t.TempDir(), "sessions"), ulid.Make().String()
	cmd := process(t, folder, id, 0)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	path := filepath.Join(folder, id+extension)
	require.True(t, alive(path))
	require.NoError(t, cmd.Process.Kill())
	for lines.Scan() {
	}
	require.Error(t, cmd.Wait())
	require.False(t, alive(path))
}
