package session

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
)

// written is an ended session with a few hundred calls.
func written(t testing.TB, calls int) string {
	t.Helper()
	l := began(t, Meta{Command: "invoke"})
	for range calls {
		id := ulid.Make().String()
		l.Append(toolCall(id))
		l.Append(plan(id))
		l.Print(Output{CallID: id, Stream: Stdout, Data: []byte(strings.Repeat("output ", 30))})
		l.Append(toolResult(id))
	}
	require.NoError(t, l.Close(Completed))
	return l.Path()
}

func change(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	require.NoError(t, err)
	_, err = db.Exec(statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestVerify(t *testing.T) {
	for _, test := range []struct{ name, statement, problem string }{
		{"as it was left", "SELECT 1", ""},
		{"a payload is another", "UPDATE events SET payload = (SELECT payload FROM events WHERE sequence = 1) WHERE sequence = 4", "its hash is not"},
		{"a time is another", "UPDATE events SET timestamp = '2020-01-01T00:00:00.000000Z' WHERE sequence = 4", "its hash is not"},
		{"a producer is another", "UPDATE events SET producer_version = '9.9.9' WHERE sequence = 4", "its hash is not"},
		{"an event is gone", "DELETE FROM events WHERE sequence = 5", "event 5 is missing"},
		{"two events have changed places", "UPDATE events SET sequence = 1000 WHERE sequence = 4; UPDATE events SET sequence = 4 WHERE sequence = 5; UPDATE events SET sequence = 5 WHERE sequence = 1000", "its hash is not"},
		{"the last events are gone", "DELETE FROM events WHERE sequence > 10", "30 events were written, and the last that is there is 10"},
		{"so is what knows of them", "DELETE FROM events WHERE sequence > 10; UPDATE sqlite_sequence SET seq = 10", "the session ended with event 30"},
		{"output is another", "UPDATE output SET data = 'nothing to see' WHERE rowid = 3", "the output of its call"},
		{"output is gone", "DELETE FROM output WHERE rowid = 3", "the output of its call"},
		{"output was put in", "INSERT INTO output SELECT * FROM output WHERE rowid = 3", "the output of its call"},
		{"a decision is another", "UPDATE plan_items SET decided_by = 'nobody' WHERE rowid = 2", "is not what the plan says"},
		{"a row of a plan is gone", "DELETE FROM plan_items WHERE rowid = 10", "have no row"},
		{"it is another session", "UPDATE session_meta SET session_id = '01J00000000000000000000000'", "its name says session"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := written(t, 10)
			change(t, path, test.statement)
			v, err := Verify(t.Context(), path)
			require.NoError(t, err)
			if test.problem == "" {
				require.Empty(t, v.Problems)
				require.EqualValues(t, 30, v.Events)
				return
			}
			require.NotEmpty(t, v.Problems)
			var all []string
			for _, p := range v.Problems {
				all = append(all, p.Text)
			}
			require.Contains(t, strings.Join(all, "\n"), test.problem)
		})
	}
}

// K32: what is damaged is put aside, what can be read of it is kept, and the chain shows what is missing.
func TestDamage(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, path string)
		least  int64 // events that must be saved
	}{
		{"truncated to half", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, info.Size()/2))
		}, 100},
		{"a page in the middle is garbage", func(t *testing.T, path string) { scribble(t, path, 0.5, 0.51) }, 500},
		{"a tenth is garbage", func(t *testing.T, path string) { scribble(t, path, 0.6, 0.7) }, 300},
		{"the end is garbage", func(t *testing.T, path string) { scribble(t, path, 0.9, 1) }, 300},
		{"all is garbage", func(t *testing.T, path string) { scribble(t, path, 0, 1) }, 0},
		{"nothing is left", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := written(t, 300)
			test.damage(t, path)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			v, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.NotEmpty(t, v.Problems)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after, "verify changes nothing")

			f := reading(t, path)
			require.NotNil(t, f.Salvage)
			kept, err := os.ReadFile(f.Salvage.Kept)
			require.NoError(t, err)
			require.Equal(t, before, kept)
			require.Contains(t, filepath.Base(f.Salvage.Kept), ".sqlite.corrupt-")
			require.Equal(t, pathID(path), f.Meta().ID)
			all := eventsOf(t, f)
			require.Len(t, all, int(f.Salvage.Events))
			require.GreaterOrEqual(t, f.Salvage.Events, test.least)
			f.Close()

			again := reading(t, path)
			require.Nil(t, again.Salvage, "what was saved is whole")
			v, err = Verify(t.Context(), path)
			require.NoError(t, err)
			require.EqualValues(t, len(all), v.Events)
			if len(all) > 0 {
				require.NotEmpty(t, v.Problems, "that events are missing stays visible")
			}
		})
	}
}

func scribble(t *testing.T, path string, from, to float64) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for i := int(from * float64(len(content))); i < int(to*float64(len(content))); i++ {
		content[i] = byte(random.Uint32())
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

// Whatever is in a file, it is told, and it is never the end of the program.
func FuzzOpen(f *testing.F) {
	l, err := NewLog(f.TempDir(), Meta{ID: "01J00000000000000000000000"}, nil)
	require.NoError(f, err)
	for _, id := range []string{"a", "b", "c"} {
		l.Append(toolCall(id))
		l.Append(toolResult(id))
	}
	require.NoError(f, l.Close(Completed))
	sound, err := os.ReadFile(l.Path())
	require.NoError(f, err)
	f.Add(0, []byte("x"))
	f.Add(18, []byte{2, 2})
	f.Add(4096, []byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, at int, patch []byte) {
		content := append([]byte(nil), sound...)
		if at < 0 || at > len(content) {
			return
		}
		content = append(content[:at], append(patch, content[min(len(content), at+len(patch)):]...)...)
		path := filepath.Join(t.TempDir(), "01J00000000000000000000000.sqlite")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		_, _ = Verify(t.Context(), path)
		file, err := Open(t.Context(), path)
		if err != nil {
			return
		}
		for _, err := range file.Events(t.Context()) {
			if err != nil {
				break
			}
		}
		file.Close()
	})
}

func TestNewerIsRefusedUntouched(t *testing.T) {
	path := written(t, 2)
	change(t, path, "PRAGMA user_version = 99")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	var newer *NewerError
	_, err = Open(t.Context(), path)
	require.ErrorAs(t, err, &newer)
	require.Equal(t, 99, newer.Version)
	_, err = Verify(t.Context(), path)
	require.ErrorAs(t, err, &newer)
	l, err := NewLog(filepath.Dir(path), Meta{ID: pathID(path)}, nil)
	require.NoError(t, err)
	_, err = l.Append(toolCall("x")).Wait(context.Background())
	require.ErrorAs(t, err, &newer)
	require.NoError(t, l.Close(Failed))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A newer session whose process was killed has its version in the write-ahead log, which opening it would take in.
func TestNewerInTheWriteAheadLog(t *testing.T) {
	l := began(t, Meta{})
	_, err := l.Append(toolCall("a")).Wait(context.Background())
	require.NoError(t, err)
	change(t, l.Path(), "PRAGMA user_version = 98")
	killed := filepath.Join(t.TempDir(), filepath.Base(l.Path()))
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(l.Path() + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(killed+suffix, content, 0o600))
	}
	var newer *NewerError
	_, err = Open(t.Context(), killed)
	require.ErrorAs(t, err, &newer)
	require.Equal(t, 98, newer.Version)
	require.FileExists(t, killed+"-wal")
}

// old makes a session from testdata/versionN.sql: what `sqlite3 FILE .dump` says of one that version N of the format has
// written.
func old(t *testing.T, version int) (path string) {
	t.Helper()
	dump, err := os.ReadFile(fmt.Sprintf("testdata/version%d.sql", version))
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), fmt.Sprintf("01KQ5G3M7Z000000000000000%d.sqlite", version))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	change(t, path, string(dump))
	requireVersion(t, version, path)
	return path
}

func requireVersion(t *testing.T, want int, path string) {
	t.Helper()
	v, err := fileVersion(path)
	require.NoError(t, err)
	require.Equal(t, want, v)
}

func TestOlderIsRead(t *testing.T) {
	for version, printed := range map[int]string{1: "", 2: "hello\n"} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := old(t, version)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			f := reading(t, path)
			require.Nil(t, f.Salvage)
			require.Equal(t, Completed, f.Meta().Status)
			all := eventsOf(t, f)
			require.Len(t, all, 2)
			data := ""
			for _, o := range outputOf(t, f, "tc_1") {
				data += string(o.Data)
			}
			require.Equal(t, printed, data)
			requireVersion(t, readVersion, path)
			verdict, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.Empty(t, verdict.Problems)
			require.Equal(t, hex.EncodeToString(all[1].Hash), hex.EncodeToString(verdict.Head))
			if version == readVersion {
				after, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, before, after, "who wrote it can read it as before")
			}
		})
	}
}

// An older session that goes on may get a tail, which who wrote it knows nothing of: it has the version that such a build
// refuses before anything is reported as kept.
func TestOlderGoesOn(t *testing.T) {
	for version := 1; version < len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := old(t, version)
			l, err := NewLog(filepath.Dir(path), Meta{ID: pathID(path)}, nil)
			require.NoError(t, err)
			n, err := l.Append(toolCall("next")).Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, int64(3), n)
			requireVersion(t, len(migrations), path)
			require.NoError(t, l.Close(Completed))
			requireVersion(t, len(migrations), path)
			f := reading(t, path)
			require.Nil(t, f.Salvage)
			require.Len(t, eventsOf(t, f), 3)
			verdict, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.Empty(t, verdict.Problems)
		})
	}
}

// What a killed writer leaves has the version of tails, wherever SQLite has that by then.
func TestTailHasItsVersion(t *testing.T) {
	require.Greater(t, len(migrations), readVersion)
	l := began(t, Meta{})
	_, err := l.Append(toolCall("a")).Wait(t.Context())
	require.NoError(t, err)
	requireVersion(t, len(migrations), l.Path())
	_, is, err := hasTail(l.Path())
	require.NoError(t, err)
	require.True(t, is)
}

// A build before this one has left a tail beside a file of version 2: it is taken in all the same.
func TestTailOfAnOlderVersion(t *testing.T) {
	path := old(t, 2)
	left, err := createTail(path, pathID(path))
	require.NoError(t, err)
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, left.write([]row{{kind: rowEvent, n: 3, at: at, event: toolCall("late")}}))
	require.NoError(t, left.close())
	f := reading(t, path)
	require.Nil(t, f.Salvage)
	all := eventsOf(t, f)
	require.Len(t, all, 3)
	require.Equal(t, toolCall("late").Payload, all[2].Payload)
	_, is, err := hasTail(path)
	require.NoError(t, err)
	require.False(t, is)
}

func TestMain(m *testing.M) {
	if os.Getenv(writerFolder) != "" {
		writerProcess()
		return
	}
	if os.Getenv(readerPath) != "" {
		readerProcess()
		return
	}
	goleak.VerifyTestMain(m)
}

func callOf(t testing.TB, e Event) string {
	t.Helper()
	var result eventv1.ToolResultEvent
	require.NoError(t, proto.Unmarshal(e.Payload, &result))
	return result.GetToolCallId()
}

// K32: a log goes on in what could be saved of its damaged file, and says so.
func TestDamagedLogGoesOn(t *testing.T) {
	path := written(t, 300)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()/2))
	var warnings []string
	l, err := NewLog(filepath.Dir(path), Meta{ID: pathID(path)}, func(w string) { warnings = append(warnings, w) })
	require.NoError(t, err)
	n, err := l.Append(toolCall("next")).Wait(t.Context())
	require.NoError(t, err)
	require.Greater(t, n, int64(100))
	require.NoError(t, l.Close(Completed))
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "was damaged")
	f := reading(t, path)
	require.Nil(t, f.Salvage)
	all := eventsOf(t, f)
	require.Equal(t, toolCall("next").Payload, all[len(all)-1].Payload)
	damaged, err := filepath.Glob(path + ".corrupt-*")
	require.NoError(t, err)
	require.Len(t, damaged, 1)
	f.Close()
	require.NoError(t, Folder(filepath.Dir(path)).Remove(pathID(path)))
	rest, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, rest)
}

// Of a session that nothing could be read of, its name still says when it began.
func TestNothingToSalvage(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	for name, content := range map[string]string{"empty": "", "text": "hello\n"} {
		t.Run(name, func(t *testing.T) {
			path := Folder(t.TempDir()).Path(ulid.MustNew(ulid.Timestamp(began), ulid.DefaultEntropy()).String())
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			f, err := Open(t.Context(), path)
			require.NoError(t, err)
			defer f.Close()
			require.NotNil(t, f.Salvage)
			require.WithinDuration(t, began, f.Meta().Started, time.Millisecond)
		})
	}
}
