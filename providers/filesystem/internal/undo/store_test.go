package undo

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// large is a content that is not held in memory.
var large = strings.Repeat("secret\n", small/7+1)

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: func() (string, error) { return dir, nil }}
	c, err := s.Keep(t.Context(), strings.NewReader(large), int64(len(large)), 0o640)
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	info, err := entries[0].Info()
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode(), "nobody else may look, whatever the file allowed")

	s.Add(&Record{Session: "s", Path: "/f", Before: c})
	require.Nil(t, s.Last("other", "/f"))
	require.Nil(t, s.Last("s", "/g"))
	got := s.Last("s", "/f")
	require.Equal(t, large, read(t, got.Before))
	s.Drop(got)
	require.Nil(t, s.Last("s", "/f"))
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
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
		{"larger than said", large, 1, 1},
	} {
		for kind, content := range map[string]io.Reader{"held": bytes.NewReader([]byte(tt.content)), "streamed": iotest.HalfReader(strings.NewReader(tt.content))} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				dir := t.TempDir()
				s := Store{Dir: func() (string, error) { return dir, nil }}
				c, err := s.Keep(t.Context(), content, int64(tt.said), 0o640)
				require.NoError(t, err)
				entries, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Len(t, entries, tt.files)
				require.Equal(t, tt.content, read(t, c))
			})
		}
	}
}

// However many small contents there are, memory holds no more than it may.
func TestHeldIsBounded(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: func() (string, error) { return dir, nil }}
	onDisk := func() int {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		return len(entries)
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
	require.Equal(t, 1, onDisk())
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

func TestTheOldestGoesFirst(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: func() (string, error) { return dir, nil }}
	for i := range maxRecords + 10 {
		c, err := s.Keep(t.Context(), strings.NewReader(large), int64(len(large)), 0)
		require.NoError(t, err)
		s.Add(&Record{Path: string(rune('a' + i%2)), Before: c})
	}
	require.Len(t, s.records, maxRecords)
	require.EqualValues(t, maxRecords*len(large), s.bytes)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, maxRecords)
	s.Add(&Record{Path: "large", Before: &Content{Size: maxBytes}})
	require.Len(t, s.records, 1)
	require.NotNil(t, s.Last("", "large"))
}
