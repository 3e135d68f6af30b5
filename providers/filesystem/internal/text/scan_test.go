package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestScan(t *testing.T) {
	three := "one\ntwo\nthree\n"
	for _, tt := range []struct {
		name   string
		stream string
		window Window
		want   Lines
	}{
		{"all", three, Window{First: 1, Count: 10, MaxBytes: 99, Whole: true},
			Lines{Text: three, First: 1, Last: 3, Total: 3, Complete: true}},
		{"no newline at the end", "one\ntwo", Window{First: 1, Count: 10, MaxBytes: 99, Whole: true},
			Lines{Text: "one\ntwo", First: 1, Last: 2, Total: 2, Complete: true}},
		{"empty", "", Window{First: 1, Count: 10, MaxBytes: 99, Whole: true},
			Lines{First: 1, Last: 0, Total: 0, Complete: true}},
		{"one empty line", "\n", Window{First: 1, Count: 10, MaxBytes: 99, Whole: true},
			Lines{Text: "\n", First: 1, Last: 1, Total: 1, Complete: true}},
		{"the middle", three, Window{First: 2, Count: 1, MaxBytes: 99, Whole: true},
			Lines{Text: "two\n", First: 2, Last: 2, More: true, Total: 3, Complete: true}},
		{"the middle, not further", three, Window{First: 2, Count: 1, MaxBytes: 99},
			Lines{Text: "two\n", First: 2, Last: 2, More: true}},
		{"the last, not further", three, Window{First: 3, Count: 1, MaxBytes: 99},
			Lines{Text: "three\n", First: 3, Last: 3, Total: 3, Complete: true}},
		{"past the end", three, Window{First: 9, Count: 1, MaxBytes: 99},
			Lines{First: 9, Last: 8, Total: 3, Complete: true}},
		{"just past the end", three, Window{First: 4, Count: 1, MaxBytes: 99, Whole: true},
			Lines{First: 4, Last: 3, Total: 3, Complete: true}},
		{"clipped at a line end", three, Window{First: 1, Count: 9, MaxBytes: 9, Whole: true},
			Lines{Text: "one\ntwo\n", First: 1, Last: 2, More: true, Total: 3, Complete: true, Clipped: true}},
		{"clipped at a line end, not further", three, Window{First: 1, Count: 9, MaxBytes: 9},
			Lines{Text: "one\ntwo\n", First: 1, Last: 2, More: true, Clipped: true}},
		{"exactly full", three, Window{First: 1, Count: 9, MaxBytes: len(three), Whole: true},
			Lines{Text: three, First: 1, Last: 3, Total: 3, Complete: true}},
		{"cut inside a line, between characters", "ééé\nx\n", Window{First: 1, Count: 9, MaxBytes: 5, Whole: true},
			Lines{Text: "éé", First: 1, Last: 1, More: true, Total: 2, Complete: true, Clipped: true, Cut: true}},
		{"cut inside the only line", "abcdef", Window{First: 1, Count: 9, MaxBytes: 3, Whole: true},
			Lines{Text: "abc", First: 1, Last: 1, Total: 1, Complete: true, Clipped: true, Cut: true}},
		{"CR LF reads as LF", "a\r\nb\r\n", Window{First: 1, Count: 9, MaxBytes: 9, Whole: true},
			Lines{Text: "a\nb\n", First: 1, Last: 2, Total: 2, Complete: true}},
		{"mark is no text", "\xef\xbb\xbfa\n", Window{First: 1, Count: 9, MaxBytes: 9, Whole: true},
			Lines{Text: "a\n", Format: NarrowBOM, First: 1, Last: 1, Total: 1, Complete: true}},
		{"UTF-16", "\xff\xfeh\x00i\x00\n\x00", Window{First: 1, Count: 9, MaxBytes: 9, Whole: true},
			Lines{Text: "hi\n", Format: UTF16LE, First: 1, Last: 1, Total: 1, Complete: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Scan(t.Context(), strings.NewReader(tt.stream), tt.window)
			require.NoError(t, err)
			got.Census = Census{}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestScanCountsLineEndsOfAll(t *testing.T) {
	stream := strings.Repeat("x", block-1) + "\r\n" + strings.Repeat("y\n", 3)
	got, err := Scan(t.Context(), strings.NewReader(stream), Window{First: 1, Count: 1, MaxBytes: 1 << 20, Whole: true})
	require.NoError(t, err)
	require.Equal(t, 1, got.Census.CRLF)
	require.Equal(t, 3, got.Census.LF)
	require.Equal(t, "mixed", got.Census.LineEnding())
	require.Equal(t, stream[:block-1]+"\n", got.Text)
}

func TestScanStopsAtBinary(t *testing.T) {
	got, err := Scan(t.Context(), strings.NewReader("a\n\x00\n"+strings.Repeat("x\n", 1<<20)), Window{First: 1, Count: 100, MaxBytes: 1 << 20, Whole: true})
	require.NoError(t, err)
	require.True(t, got.Census.Binary())
	require.False(t, got.Complete)
}

func TestScanOverlongLineInBoundedMemory(t *testing.T) {
	for _, whole := range []bool{false, true} {
		endless := io.LimitReader(repeat('a'), 256<<20)
		got, err := Scan(t.Context(), endless, Window{First: 1, Count: 1, MaxBytes: 100, Whole: whole})
		require.NoError(t, err)
		require.Len(t, got.Text, 100)
		require.True(t, got.Cut)
		require.Equal(t, whole, got.Complete)
	}
}

func TestScanReportsErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := Scan(t.Context(), io.MultiReader(strings.NewReader("a\n"), failing{broken}), Window{First: 1, Count: 9, MaxBytes: 9, Whole: true})
	require.ErrorIs(t, err, broken)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Scan(ctx, repeat('a'), Window{First: 2, Count: 9, MaxBytes: 9})
	require.ErrorIs(t, err, context.Canceled)
}

// Whatever the stream and the window, a scan finds what splitting the decoded
// file at its line ends finds.
func FuzzScan(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), 1, 2, 10)
	f.Add([]byte("\xff\xfea\x00\r\x00\n\x00b\x00"), 2, 2, 10)
	f.Add([]byte(strings.Repeat("long\x99line\r\n", 9000)), 3, 5000, 40000)
	f.Fuzz(func(t *testing.T, raw []byte, first, count, size int) {
		w := Window{First: max(first, 1), Count: max(count, 1), MaxBytes: max(size, 8) % (1 << 20), Whole: true}
		got, err := Scan(t.Context(), bytes.NewReader(raw), w)
		require.NoError(t, err)
		require.True(t, utf8.ValidString(got.Text))
		require.LessOrEqual(t, len(got.Text), w.MaxBytes)
		if !got.Complete {
			require.True(t, got.Census.Binary())
			return
		}
		lines := strings.SplitAfter(string(NewView(raw).Text), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		require.Equal(t, len(lines), got.Total)
		if got.Last >= got.First {
			want := strings.Join(lines[got.First-1:got.Last], "")
			if got.Cut {
				require.True(t, strings.HasPrefix(want, got.Text))
			} else {
				require.Equal(t, want, got.Text)
			}
		}
		require.Equal(t, got.First <= got.Total && got.Last < got.Total, got.More)
	})
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A line that is cut may be cut inside a character; that is no other encoding.
func TestScanCutLineKeepsItsEncoding(t *testing.T) {
	for shift := range 4 {
		for _, char := range []string{"\u00e9", "\u65e5", "\U0001f600"} {
			line := strings.Repeat("a", shift) + strings.Repeat(char, block)
			got, err := Scan(t.Context(), strings.NewReader(line), Window{First: 1, Count: 1, MaxBytes: 100, Whole: true})
			require.NoError(t, err)
			require.True(t, got.Cut)
			require.True(t, strings.HasPrefix(line, got.Text))
			require.Equal(t, "utf-8", got.Census.Encoding(got.Format))
		}
	}
}
