package capture

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func newOutput(t *testing.T, limit int) *Output {
	dir := t.TempDir()
	return New(limit, func() (*os.File, error) { return os.CreateTemp(dir, "out") })
}

func TestText(t *testing.T) {
	box := "─" // three bytes
	for _, c := range []struct {
		name, in string
		limit    int
		want     string
		file     bool
	}{
		{"nothing", "", 100, "", false},
		{"short", "hello\n", 100, "hello\n", false},
		{"just fits", strings.Repeat("x", 100), 100, strings.Repeat("x", 100), false},
		{"one too many", strings.Repeat("a", 50) + "!" + strings.Repeat("z", 50), 100,
			strings.Repeat("a", 37) + "\n[... 26 bytes cut ...]\n" + strings.Repeat("z", 38), true},
		{"seam inside a character", strings.Repeat(box, 400), 100, // SO-20
			strings.Repeat(box, 12) + "\n[... 1128 bytes cut ...]\n" + strings.Repeat(box, 12), true},
		{"not text", "a\xff\xfeb", 100, "a\uFFFD\uFFFDb", false},
		{"not text, and too long once replaced", strings.Repeat("\xff", 60), 100,
			strings.Repeat("\uFFFD", 12) + "\n[... 36 bytes cut ...]\n" + strings.Repeat("\uFFFD", 12), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 7, 64, 1 << 20} {
				o := newOutput(t, c.limit)
				for rest := c.in; rest != ""; rest = rest[min(step, len(rest)):] {
					_, _ = o.Write([]byte(rest[:min(step, len(rest))]))
				}
				path, err := o.Close()
				require.NoError(t, err)
				require.Equal(t, c.want, o.Text())
				require.EqualValues(t, len(c.in), o.Total())
				require.Equal(t, c.file, path != "")
				if c.file {
					kept, err := os.ReadFile(path)
					require.NoError(t, err)
					require.Equal(t, c.in, string(kept))
				}
			}
		})
	}
}

// Whatever is kept where, every byte can be read again, in pieces of any size.
func TestRead(t *testing.T) {
	text := []byte(strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 20))
	for _, size := range []int{0, 1, 99, 100, 101, 250, 300, 301, len(text)} {
		o := newOutput(t, 100)
		for rest := text[:size]; len(rest) > 0; rest = rest[min(33, len(rest)):] {
			_, _ = o.Write(rest[:min(33, len(rest))])
		}
		for _, step := range []int{1, 7, 1000} {
			var got []byte
			for len(got) < size {
				p, start := o.Read(int64(len(got)), step)
				require.EqualValues(t, len(got), start)
				require.NotEmpty(t, p)
				require.LessOrEqual(t, len(p), step)
				got = append(got, p...)
			}
			require.Equal(t, string(text[:size]), string(got))
			p, start := o.Read(int64(size), step)
			require.Empty(t, p)
			require.EqualValues(t, size, start)
		}
		_, err := o.Close()
		require.NoError(t, err)
	}
}

func TestReadWithoutAFile(t *testing.T) {
	o := New(10, func() (*os.File, error) { return nil, errors.New("disk full") })
	_, _ = o.Write([]byte("0123456789" + strings.Repeat("x", 1000) + "abcdefghij"))
	p, start := o.Read(4, 100)
	require.Equal(t, "456789", string(p))
	require.EqualValues(t, 4, start)
	p, start = o.Read(10, 100)
	require.Equal(t, "abcdefghij", string(p[len(p)-10:]))
	require.EqualValues(t, 1020-len(p), start, "what is lost is skipped")
}

func TestFileThatCannotBeWritten(t *testing.T) {
	o := New(10, func() (*os.File, error) { return nil, errors.New("disk full") })
	_, _ = o.Write([]byte(strings.Repeat("x", 1000)))
	path, err := o.Close()
	require.ErrorContains(t, err, "disk full")
	require.Empty(t, path)
	require.EqualValues(t, 1000, o.Total())
}

func FuzzText(f *testing.F) {
	f.Add([]byte("hello"), 3, 60)
	f.Add([]byte(strings.Repeat("─\xff", 100)), 5, 90)
	f.Fuzz(func(t *testing.T, in []byte, step, limit int) {
		if step < 1 || limit < 50 || limit > 1<<16 {
			return
		}
		o := New(limit, func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) })
		for rest := in; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			_, _ = o.Write(rest[:min(step, len(rest))])
		}
		text := o.Text()
		require.True(t, utf8.ValidString(text))
		require.LessOrEqual(t, len(text), limit)
		if valid := utf8.Valid(in); valid && len(in) <= limit {
			require.Equal(t, string(in), text)
		}
	})
}
