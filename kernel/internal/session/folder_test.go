package session

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

// sessions makes sessions of one call each, begun so long ago, the newest first, and returns their ids.
func sessions(t *testing.T, folder Folder, ages ...time.Duration) (ids []string) {
	t.Helper()
	for _, age := range ages {
		began := time.Now().Add(-age)
		id := ulid.MustNew(ulid.Timestamp(began), ulid.DefaultEntropy()).String()
		l, err := NewLog(string(folder), Meta{ID: id, Started: began}, nil)
		require.NoError(t, err)
		_, err = l.Append(toolCall("a")).Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, l.Close(Completed))
		ids = append(ids, id)
	}
	return ids
}

func TestFolder(t *testing.T) {
	folder := Folder(t.TempDir())
	none, err := Folder(filepath.Join(t.TempDir(), "missing")).List(t.Context())
	require.NoError(t, err)
	require.Empty(t, none)
	var missing *NotFoundError
	_, err = folder.Find(Last)
	require.ErrorAs(t, err, &missing)

	ids := sessions(t, folder, time.Hour, 25*time.Hour, 49*time.Hour)
	for _, name := range []string{"notes.txt", "short.sqlite", ids[0] + ".lock.bak"} {
		require.NoError(t, os.WriteFile(filepath.Join(string(folder), name), nil, 0o600))
	}
	all, err := folder.List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 3)
	for i, s := range all {
		require.Equal(t, ids[i], s.ID)
		require.NoError(t, s.Err)
		require.EqualValues(t, 1, s.Calls)
		require.Equal(t, toolCall("a").Payload, s.First.Payload)
		require.Positive(t, s.Size)
	}

	for word, want := range map[string]string{Last: ids[0], ids[1]: ids[1], ids[2][:10]: ids[2], ids[1][len(ids[1])-6:]: ids[1], strings.ToLower(ids[0][len(ids[0])-6:]): ids[0]} {
		path, err := folder.Find(word)
		require.NoError(t, err)
		require.Equal(t, folder.Path(want), path)
	}
	_, err = folder.Find("0")
	require.ErrorAs(t, err, &missing)
	require.True(t, missing.Several)
	require.Len(t, missing.Among, 3)
	_, err = folder.Find("../" + ids[0])
	require.ErrorAs(t, err, &missing)

	require.Len(t, Old(all, 24*time.Hour, 0, time.Now()), 2)
	require.Len(t, Old(all, 24*time.Hour, 2, time.Now()), 1)
	require.Len(t, Old(all, 0, 0, time.Now()), 3)
	require.Empty(t, Old(all, 0, 3, time.Now()))
	require.NoError(t, folder.Remove(ids[1]))
	require.NoFileExists(t, folder.Path(ids[1]))
}

// One that runs is never deleted, however old its list of sessions is.
func TestRunningIsNotRemoved(t *testing.T) {
	folder, id := Folder(t.TempDir()), ulid.Make().String()
	cmd := process(t, string(folder), id, 0)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	all, err := folder.List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, Running, all[0].Status)
	require.Empty(t, Old(all, 0, 0, time.Now()))
	require.ErrorIs(t, folder.Remove(id), ErrRunning)
	require.NoError(t, cmd.Process.Kill())
	for lines.Scan() {
	}
	require.Error(t, cmd.Wait())
	require.NoError(t, folder.Remove(id))
	rest, err := os.ReadDir(string(folder))
	require.NoError(t, err)
	require.Empty(t, rest)
}
