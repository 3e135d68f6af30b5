package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

func TestScanAccepts(t *testing.T) {
	refused := errors.New("no text")
	for name, stream := range map[string]string{"empty": "", "short": "a\n", "long": strings.Repeat("a\n", block)} {
		for verdict, want := range map[string]error{"accepted": nil, "refused": refused} {
			t.Run(name+", "+verdict, func(t *testing.T) {
				seen := 0
				w := Window{First: 1, Count: 1, MaxBytes: 9, Accept: func(head []byte) error {
					seen++
					require.Equal(t, stream[:min(len(stream), SniffLen)], string(head))
					return want
				}}
				_, err := Scan(t.Context(), strings.NewReader(stream), w)
				require.ErrorIs(t, err, want)
				require.Equal(t, 1, seen)
			})
		}
	}
	_, err := Scan(t.Context(), failing{refused}, Window{First: 1, Count: 1, MaxBytes: 9, Accept: func([]byte) error {
		t.Error("there is nothing to accept")
		return nil
	}})
	require.ErrorIs(t, err, refused)
}

// Lines are taken by the block, one by one where they do not fit, and are the same lines.
func TestScanTakesLinesHoweverTheyLie(t *testing.T) {
	for _, tt := range []struct{ name, line string }{
		{"plain", "twenty bytes of text\n"}, {"CR LF", "a line of text\r\n"}, {"legacy", "\x80\x99\xe9 grows\n"},
		{"several bytes", "日本語のテキスト\n"}, {"CR alone", "a\rb\n"}, {"empty", "\n"}, {"control characters", "\x1b[1mbold\x7f\n"},
	} {
		raw := []byte(strings.Repeat(tt.line, 3*block/len(tt.line)))
		text := string(NewView(raw).Text)
		lines := strings.SplitAfter(text, "\n")
		for _, size := range []int{1, 100, block - 1, block, block + 1, len(text) - 1, len(text)} {
			t.Run(fmt.Sprint(tt.name, " in ", size), func(t *testing.T) {
				got, err := Scan(t.Context(), bytes.NewReader(raw), Window{First: 3, Count: len(lines), MaxBytes: size, Whole: true})
				require.NoError(t, err)
				fit, n := 0, 0
				for _, l := range lines[2:] {
					if fit+len(l) > size {
						break
					}
					fit, n = fit+len(l), n+1
				}
				if n > 0 {
					require.Equal(t, strings.Join(lines[2:2+n], ""), got.Text)
				}
				require.LessOrEqual(t, len(got.Text), size)
				require.Equal(t, len(lines)-1, got.Total)
			})
		}
	}
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
		if whole, ok := Whole(bytes.Clone(raw), w); ok {
			require.Equal(t, got, whole)
		}
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
