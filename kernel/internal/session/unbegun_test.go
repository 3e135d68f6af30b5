package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

// A writer that is killed while it begins a session has lost nothing, and leaves no damage: a session without a call.
func TestKilledAtFirst(t *testing.T) {
	ctx := context.Background()
	for name, until := range map[string]func(t *testing.T, path string){
		"made": func(*testing.T, string) {},
		"tables": func(t *testing.T, path string) {
			db, conn, _, err := openWriter(ctx, path)
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			require.NoError(t, db.Close())
		},
		"journal": func(t *testing.T, path string) {
			change(t, path, "PRAGMA journal_mode = wal")
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := Folder(t.TempDir())
			began := time.Now().Add(-time.Hour)
			id := ulid.MustNew(ulid.Timestamp(began), ulid.DefaultEntropy()).String()
			path := folder.Path(id)
			require.NoError(t, os.WriteFile(lockOf(path), nil, 0o600))
			_, err := createFile(path)
			require.NoError(t, err)
			until(t, path)

			v, err := Verify(t.Context(), path)
			require.NoError(t, err)
			require.Empty(t, v.Problems)
			require.Zero(t, v.Events)
			all, err := folder.List(t.Context())
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.NoError(t, all[0].Err)
			require.Equal(t, Interrupted, all[0].Status)
			require.WithinDuration(t, began, all[0].Started, time.Millisecond)
			f := reading(t, path)
			require.Nil(t, f.Salvage)
			require.Empty(t, eventsOf(t, f))
			f.Close()
			require.NoError(t, folder.Remove(id))
			rest, err := os.ReadDir(string(folder))
			require.NoError(t, err)
			require.Empty(t, rest)
		})
	}
}

// Who looks at a session that is just being begun waits for that.
func TestReadWhileItBegins(t *testing.T) {
	folder, id := t.TempDir(), ulid.Make().String()
	path := filepath.Join(folder, id+extension)
	lock, err := hold(t.Context(), path)
	require.NoError(t, err)
	_, err = createFile(path)
	require.NoError(t, err)
	found := make(chan error)
	go func() {
		f, err := Open(context.Background(), path)
		if err == nil {
			f.Close()
		}
		found <- err
	}()
	select {
	case err := <-found:
		require.Fail(t, "it is not there yet", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, beginFor(t.Context(), path))
	require.NoError(t, <-found)
	require.NoError(t, release(lock))
}

// What has lost what it was is damaged, whoever was killed.
func TestKilledAndDamaged(t *testing.T) {
	path := killed(t, 3)
	reading(t, path).Close() // the database has all of it
	require.NoError(t, os.WriteFile(lockOf(path), nil, 0o600))
	change(t, path, "DELETE FROM session_meta")
	f := reading(t, path)
	require.NotNil(t, f.Salvage)
	require.GreaterOrEqual(t, len(eventsOf(t, f)), 9)
	f.Close()
}
