package undo

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// large is a content that is not held in memory, and huge one that has a file of its own.
var (
	large = strings.Repeat("secret\n", small/7+1)
	huge  = strings.Repeat("secret\n", medium/7+1)
)

// kept are the names of the files in dir, and their bytes in all.
func kept(t *testing.T, dir string) (names []string, size int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode(), "nobody else may look, whatever the file allowed")
		names, size = append(names, e.Name()), size+info.Size()
	}
	return names, size
}

// storeIn is a store that keeps what it has in dir.
func storeIn(t *testing.T, dir string) *Store {
	s := &Store{Dir: func() (string, error) { return dir, nil }}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestKeep(t *testing.T) {
	for name, content := range map[string]string{"large": large, "huge": huge} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := Store{Dir: func() (string, error) { return dir, nil }}
			c, err := s.Keep(t.Context(), strings.NewReader(content), int64(len(content)), 0o640)
			require.NoError(t, err)
			names, size := kept(t, dir)
			require.Len(t, names, 1)
			require.EqualValues(t, len(content), size)

			s.Add(&Record{Session: "s", Path: "/f", Before: c})
			require.Nil(t, s.Last("other", "/f"))
			require.Nil(t, s.Last("s", "/g"))
			got := s.Last("s", "/f")
			require.Equal(t, content, read(t, got.Before))
			s.Drop(got)
			require.Nil(t, s.Last("s", "/f"))
			_, size = kept(t, dir)
			require.Zero(t, size)
			c.Discard()
			require.NoError(t, s.Close())
			names, _ = kept(t, dir)
			require.Empty(t, names)
		})
	}
}

func read(t *testing.T, c *Content) string {
	t.Helper()
	r, err := c.Open()
	require.NoError(t, err)
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, c.Size, int64(len(body)))
	return string(body)
}

// What is small makes no file, unless it turns out to be larger than was said.
func TestKeepOfEverySize(t *testing.T) {
	for _, tt := range []struct {
		name    string
		content string
		said    int
		files   int
	}{
		{"a byte", "x", 1, 0},
		{"small", large[:small], small, 0},
		{"shorter than said", "xy", 3, 0},
		{"large", large, len(large), 1},
		{"empty, and more was said", "", small, 0},
		{"larger than said", large, 1, 1},
		{"medium", huge[:medium], medium, 1},
		{"huge", huge, len(huge), 1},
		{"huge, and less was said", huge, small, 1},
	} {
		for kind, content := range map[string]io.Reader{"held": bytes.NewReader([]byte(tt.content)), "streamed": iotest.HalfReader(strings.NewReader(tt.content))} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				dir := t.TempDir()
				s := storeIn(t, dir)
				c, err := s.Keep(t.Context(), content, int64(tt.said), 0o640)
				require.NoError(t, err)
				names, _ := kept(t, dir)
				require.Len(t, names, tt.files)
				require.Equal(t, tt.content, read(t, c))
			})
		}
	}
}

// However many small contents there are, memory holds no more than it may.
func TestHeldIsBounded(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	onDisk := func() int64 {
		_, size := kept(t, dir)
		return size
	}
	keep := func() {
		c, err := s.Keep(t.Context(), strings.NewReader(large[:small]), small, 0o640)
		require.NoError(t, err)
		require.Equal(t, large[:small], read(t, c))
		s.Add(&Record{Path: "/f", Before: c})
	}
	for range maxHeld / small {
		keep()
	}
	require.Zero(t, onDisk())
	keep()
	require.EqualValues(t, small, onDisk())
	s.Drop(s.Last("", "/f"))
	s.Drop(s.Last("", "/f"))
	require.Zero(t, onDisk())
	keep()
	require.Zero(t, onDisk(), "what was dropped has made room")
}

func TestKeepRefuses(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: func() (string, error) { return dir, nil }}
	_, err := s.Keep(t.Context(), strings.NewReader(""), MaxFile+1, 0)
	require.ErrorIs(t, err, ErrTooLarge)
	for _, said := range []int64{1, MaxFile} {
		_, err = s.Keep(t.Context(), endless{}, said, 0)
		require.ErrorIs(t, err, ErrTooLarge, "what grows while it is read")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Keep(ended, strings.NewReader("x"), 1, 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = (&Store{}).Keep(t.Context(), strings.NewReader("x"), 1, 0)
	require.ErrorContains(t, err, "no place")
	empty, err := (&Store{}).Keep(t.Context(), strings.NewReader(""), 0, 0)
	require.NoError(t, err, "nothing needs no place")
	require.Empty(t, read(t, empty))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// endless is a file that others write to faster than it is read.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// What lies on a full disk gives way, and its records say so; what is in memory stays.
func TestGiveWay(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	var last *Content
	for _, content := range []string{"in memory", large, huge, large} {
		c, err := s.Keep(t.Context(), strings.NewReader(content), int64(len(content)), 0)
		require.NoError(t, err)
		s.Add(&Record{Path: content[:1] + strconv.Itoa(len(content)), Before: c})
		last = c
	}
	underway := keep(t, s, large+"under way")
	reader, err := last.Open()
	require.NoError(t, err)
	underUndo := s.Last("", "s"+strconv.Itoa(len(huge)))
	require.True(t, s.GiveWay(dir))
	_, err = underUndo.Before.Open()
	require.ErrorIs(t, err, errDropped)
	body, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, large, string(body), "who reads it already has it to the end")
	require.NoError(t, reader.Close())
	require.False(t, s.GiveWay(dir), "there is no more")
	require.Equal(t, "in memory", read(t, s.Last("", "i9").Before))
	for _, content := range []string{large, huge} {
		r := s.Last("", "s"+strconv.Itoa(len(content)))
		require.Nil(t, r.Before)
		require.Contains(t, r.Lost, "the disk was full")
	}
	require.EqualValues(t, len("in memory"), s.bytes)
	require.Equal(t, large+"under way", read(t, underway))
	s.Drop(underUndo)
	require.Nil(t, s.Last("", "s"+strconv.Itoa(len(huge))), "what has been taken back all the same is no record any more")
	require.False(t, (&Store{}).GiveWay(dir))
}

func TestTheOldestGoesFirst(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	for i := range maxRecords + 10 {
		content := large
		if i%2 == 1 {
			content = huge
		}
		c, err := s.Keep(t.Context(), strings.NewReader(content), int64(len(content)), 0)
		require.NoError(t, err)
		s.Add(&Record{Path: string(rune('a' + i%2)), Before: c})
	}
	require.Len(t, s.records, maxRecords)
	require.EqualValues(t, maxRecords/2*(len(large)+len(huge)), s.bytes)
	names, size := kept(t, dir)
	require.Len(t, names, maxRecords/2+1, "one for those that share it")
	require.LessOrEqual(t, size, s.bytes+int64(2*len(large)), "what was dropped has made room")
	s.Add(&Record{Path: "large", Before: &Content{Size: maxBytes}})
	require.Len(t, s.records, 1)
	require.NotNil(t, s.Last("", "large"))
	_, size = kept(t, dir)
	require.Zero(t, size)
}
