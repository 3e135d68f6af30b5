package undo

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// keep keeps a content that shares a file.
func keep(t *testing.T, s *Store, content string) *Content {
	t.Helper()
	c, err := s.Keep(t.Context(), bytes.NewReader([]byte(content)), int64(len(content)), 0o600)
	require.NoError(t, err)
	require.NotNil(t, c.place)
	return c
}

func contentOf(letter rune, size int) string { return strings.Repeat(string(letter), size) }

// A place that is free is taken again, by the first content that fits.
func TestPlacesAreTakenAgain(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	a, b, c := keep(t, s, contentOf('a', 20_000)), keep(t, s, contentOf('b', 10_000)), keep(t, s, contentOf('c', 10_000))
	a.Discard()
	a.Discard()
	large, first, second := keep(t, s, contentOf('l', 20_001)), keep(t, s, contentOf('1', 9_000)), keep(t, s, contentOf('2', 11_000))
	_, size := kept(t, dir)
	require.EqualValues(t, 60_001, size)
	for letter, kept := range map[rune]*Content{'b': b, 'c': c, 'l': large, '1': first, '2': second} {
		require.Equal(t, contentOf(letter, int(kept.Size)), read(t, kept))
	}
	for _, kept := range []*Content{large, first, b, c, second} {
		kept.Discard()
	}
	_, size = kept(t, dir)
	require.Zero(t, size)
}

// What is being read stays what it was, though it is dropped and others look for a place.
func TestWhatIsReadStays(t *testing.T) {
	s := storeIn(t, t.TempDir())
	old := keep(t, s, contentOf('o', 10_000))
	reader, err := old.Open()
	require.NoError(t, err)
	old.Discard()
	_, err = old.Open()
	require.ErrorIs(t, err, errDropped)
	next := keep(t, s, contentOf('n', 10_000))
	body, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, contentOf('o', 10_000), string(body))
	require.NoError(t, reader.Close())
	last := keep(t, s, contentOf('l', 10_000))
	require.Zero(t, last.place.at, "now it is free")
	require.Equal(t, contentOf('n', 10_000), read(t, next))
}

// The file becomes shorter again when it is much longer than what is in it.
func TestSpoolIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(t, dir)
	first := keep(t, s, contentOf('f', medium))
	var more []*Content
	for range slack/medium + 2 {
		more = append(more, keep(t, s, contentOf('m', medium)))
	}
	for _, c := range more {
		c.Discard()
	}
	_, size := kept(t, dir)
	require.LessOrEqual(t, size, int64(medium+slack))
	require.Equal(t, contentOf('f', medium), read(t, first))
}

// Who empties the cache takes nothing away that is kept, and is no fault when the store ends.
func TestSpoolWhoseFileIsRemoved(t *testing.T) {
	s := storeIn(t, t.TempDir())
	c := keep(t, s, large)
	require.NoError(t, os.Remove(s.spool.file.Name()))
	require.Equal(t, large, read(t, c))
	require.Equal(t, "more"+large, read(t, keep(t, s, "more"+large)))
	require.NoError(t, s.Close())
	s.spool.file = nil
}

// A content that cannot be written takes no place.
func TestSpoolThatCannotBeWritten(t *testing.T) {
	s := storeIn(t, t.TempDir())
	keep(t, s, contentOf('a', 10_000)).Discard()
	require.NoError(t, s.spool.file.Close())
	_, err := s.Keep(t.Context(), strings.NewReader(large), int64(len(large)), 0)
	require.ErrorIs(t, err, os.ErrClosed)
	require.Empty(t, s.spool.places)
	require.NoError(t, os.Remove(s.spool.file.Name()))
	s.spool.file = nil
	require.Equal(t, "again"+large, read(t, keep(t, s, "again"+large)))
}

// However many keep, read and drop at once, each gets what it kept.
func TestSpoolIsShared(t *testing.T) {
	s := storeIn(t, t.TempDir())
	var work sync.WaitGroup
	for worker := range 8 {
		work.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			var mine []*Content
			for i := range 300 {
				content := contentOf(rune('a'+worker), small+1+r.IntN(20_000))
				c, err := s.Keep(t.Context(), bytes.NewReader([]byte(content)), int64(len(content)), 0)
				if err != nil {
					t.Error(err)
					return
				}
				mine = append(mine, c)
				at := r.IntN(len(mine))
				if err := holds(mine[at], byte('a'+worker)); err != nil {
					t.Errorf("content %d of worker %d: %v", i, worker, err)
					return
				}
				if r.IntN(3) > 0 {
					mine[at].Discard()
					mine = append(mine[:at], mine[at+1:]...)
				}
			}
			for _, c := range mine {
				c.Discard()
			}
		})
	}
	work.Wait()
	require.Empty(t, s.spool.places)
}

// holds reads a content that is made of one letter.
func holds(c *Content, letter byte) error {
	reader, err := c.Open()
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	body, err := io.ReadAll(reader)
	if err == nil && (int64(len(body)) != c.Size || len(bytes.Trim(body, string(letter))) > 0) {
		err = fmt.Errorf("%d bytes, not all %q", len(body), letter)
	}
	return err
}

func BenchmarkKeep(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir := b.TempDir()
			s := Store{Dir: func() (string, error) { return dir, nil }, held: maxHeld}
			body := bytes.Repeat([]byte("x"), size)
			for b.Loop() {
				c, err := s.Keep(b.Context(), bytes.NewReader(body), int64(size), 0o644)
				require.NoError(b, err)
				s.Add(&Record{Path: "/f", Before: c})
			}
			require.NoError(b, s.Close())
		})
	}
}
