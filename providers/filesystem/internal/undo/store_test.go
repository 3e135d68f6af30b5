package undo

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: func() (string, error) { return dir, nil }}
	c, err := s.Keep(t.Context(), strings.NewReader("secret"), 6, 0o640)
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
	r, err := got.Before.Open()
	require.NoError(t, err)
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, "secret", string(body))
	s.Drop(got)
	require.Nil(t, s.Last("s", "/f"))
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
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
	r, err := empty.Open()
	require.NoError(t, err)
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, body)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestTheOldestGoesFirst(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: func() (string, error) { return dir, nil }}
	for i := range maxRecords + 10 {
		c, err := s.Keep(t.Context(), strings.NewReader("x"), 1, 0)
		require.NoError(t, err)
		s.Add(&Record{Path: string(rune('a' + i%2)), Before: c})
	}
	require.Len(t, s.records, maxRecords)
	require.EqualValues(t, maxRecords, s.bytes)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, maxRecords)
	s.Add(&Record{Path: "large", Before: &Content{Size: maxBytes}})
	require.Len(t, s.records, 1)
	require.NotNil(t, s.Last("", "large"))
}
