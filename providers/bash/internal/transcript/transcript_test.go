package transcript

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func newTranscript(t *testing.T, limit int) *Transcript {
	dir := t.TempDir()
	output := New(limit, func() (*os.File, error) { return os.CreateTemp(dir, "out") })
	t.Cleanup(output.Close)
	return output
}

// SO-19: pieces are whole characters, until it is known that no more will come.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes []string
		offset int64
		ended  bool
		want   Piece
	}{
		{"nothing yet", nil, 0, false, Piece{}},
		{"all", []string{"one ", "two"}, 0, false, Piece{"one two", 0, 7, 7}},
		{"from the middle", []string{"one ", "two"}, 4, false, Piece{"two", 4, 7, 7}},
		{"at the end", []string{"one"}, 3, false, Piece{"", 3, 3, 3}},
		{"half a character", []string{"x\xe2\x94"}, 0, false, Piece{"x", 0, 1, 3}},
		{"only half a character", []string{"\xf0\x9f\x98"}, 0, false, Piece{"", 0, 0, 3}},
		{"half a character at the end", []string{"x\xe2\x94"}, 0, true, Piece{"x\uFFFD\uFFFD", 0, 3, 3}},
		{"the other half", []string{"x\xe2\x94", "\x80"}, 1, false, Piece{"─", 1, 4, 4}},
		{"what is no character at all", []string{"\xff\x80\x80\x80\x80"}, 0, false, Piece{strings.Repeat("\uFFFD", 5), 0, 5, 5}},
		{"more than is shown", []string{strings.Repeat("─", 100)}, 0, false, Piece{strings.Repeat("─", 33), 0, 99, 300}},
		{"bytes that grow when they are replaced", []string{strings.Repeat("\xff", 100)}, 0, true, Piece{strings.Repeat("\uFFFD", 33), 0, 33, 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			output := newTranscript(t, 100)
			for _, p := range c.writes {
				output.Write(0, []byte(p))
			}
			if c.ended {
				output.End()
			}
			require.Equal(t, c.want, output.Read(c.offset))
		})
	}
}

func TestAwait(t *testing.T) {
	for _, c := range []struct {
		name   string
		happen func(*Transcript)
		after  time.Duration
	}{
		{"output", func(o *Transcript) { o.Write(0, []byte("x")) }, time.Second},
		{"the end", (*Transcript).End, time.Second},
		{"half a character is nothing to read", func(o *Transcript) { o.Write(0, []byte("\xe2")) }, time.Minute},
		{"nothing", func(*Transcript) {}, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				output := newTranscript(t, 100)
				begun := time.Now()
				time.AfterFunc(time.Second, func() { c.happen(output) })
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				output.Await(ctx, 0)
				require.Equal(t, c.after, time.Since(begun))
			})
		})
	}
}

func TestAwaitSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		output := newTranscript(t, 100)
		begun := time.Now()
		for i := range 4 {
			time.AfterFunc(time.Duration(i)*20*time.Millisecond, func() { output.Write(0, []byte("x")) })
		}
		output.AwaitSilence(t.Context(), 30*time.Millisecond)
		require.Equal(t, 90*time.Millisecond, time.Since(begun))
		output.End()
		output.AwaitSilence(t.Context(), time.Hour)
		require.Equal(t, 90*time.Millisecond, time.Since(begun))
	})
}

func TestView(t *testing.T) {
	output := newTranscript(t, 100)
	output.Write(0, []byte(strings.Repeat("line\n", 50)))
	output.Write(1, []byte("oops\n"))
	view := output.View()
	require.EqualValues(t, 255, view.Total)
	require.Contains(t, view.Text, "bytes cut")
	kept, err := os.ReadFile(view.Path)
	require.NoError(t, err)
	require.Len(t, kept, 255)
	require.Equal(t, "oops", output.Summary(1, ""))
}
