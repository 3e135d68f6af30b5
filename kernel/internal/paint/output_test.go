package paint

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

const (
	stdout = toolv1.OutputStream_OUTPUT_STREAM_STDOUT
	stderr = toolv1.OutputStream_OUTPUT_STREAM_STDERR
)

// paintAll paints chunks; those that begin with "2>" are of stderr.
func paintAll(o *Output, chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		text, isErr := strings.CutPrefix(c, "2>")
		stream := stdout
		if isErr {
			stream = stderr
		}
		b.WriteString(o.Chunk(stream, []byte(text)))
	}
	return b.String() + o.End()
}

func TestOutput(t *testing.T) {
	tests := []struct {
		name                  string
		chunks                []string
		pipe, terminal, plain string // a pipe; a terminal with colours; one without
	}{
		{"lines", []string{"a\n", "b"}, "a\nb\n", "«│ a\n«│ b\n", "│ a\n│ b\n"},
		{"empty lines", []string{"\n\n"}, "\n\n", "«│ \n«│ \n", "│ \n│ \n"},
		{"two streams", []string{"a\n", "2>b\n"}, "a\nb\n", "«│ a\n»┃ b\n", "│ a\n┃ b\n"},
		{"a stream cuts in", []string{"a", "2>b\n", "c\n"}, "a\nb\nc\n", "«│ a\n»┃ b\n«│ c\n", "│ a\n┃ b\n│ c\n"},
		{"a character in two chunks", []string{"\xe6\x97", "\xa5\n"}, "日\n", "«│ 日\n", "│ 日\n"},
		{"a character cut off", []string{"\xe6\x97"}, "\uFFFD\n", "«│ \uFFFD\n", "│ \uFFFD\n"},
		{"a character cut by the other stream", []string{"\xe6", "2>x\n", "\x97\xa5\n"}, "x\n日\n", "»┃ x\n«│ 日\n", "┃ x\n│ 日\n"},
		{"not UTF-8", []string{"\xff\x9b31m\n"}, "\uFFFD\uFFFD31m\n", "«│ \uFFFD\uFFFD31m\n", "│ \uFFFD\uFFFD31m\n"},
		{"CR LF in two chunks", []string{"a\r", "\nb\n"}, "a\nb\n", "«│ a\n«│ b\n", "│ a\n│ b\n"},
		{"progress bar", []string{"10%\r20%", "\r\r30%\n"}, "10%\n20%\n30%\n", "«│ 10%\r\x1b[K«│ 20%\r\x1b[K«│ 30%\n", "│ 10%\r\x1b[K│ 20%\r\x1b[K│ 30%\n"},
		{"CR at the start", []string{"\rx\n"}, "x\n", "«│ x\n", "│ x\n"},
		{"colour", []string{"\x1b[31mred\x1b[0m\n"}, "red\n", "«│ \x1b[31mred\x1b[0m\n", "│ red\n"},
		{"colour over lines", []string{"\x1b[1;31ma\nb\x1b[m\n"}, "a\nb\n", "«│ \x1b[1;31ma\x1b[0m\n«│ \x1b[1;31mb\x1b[0m\n", "│ a\n│ b\n"},
		{"colour does not leak", []string{"\x1b[31ma", "2>b\n"}, "a\nb\n", "«│ \x1b[31ma\x1b[0m\n»┃ b\n", "│ a\n┃ b\n"},
		{"colour never ended", []string{"\x1b[31ma"}, "a\n", "«│ \x1b[31ma\x1b[0m\n", "│ a\n"},
		{"colour in two chunks", []string{"\x1b", "[3", "1ma\x1b[0m\n"}, "a\n", "«│ \x1b[31ma\x1b[0m\n", "│ a\n"},
		{"256 and true colours", []string{"\x1b[38;5;8ma\x1b[0m\x1b[48;2;5;6;8mb\x1b[0m\n"}, "ab\n", "«│ \x1b[38;5;8ma\x1b[0m\x1b[48;2;5;6;8mb\x1b[0m\n", "│ ab\n"},
		{"hidden and blinking text", []string{"\x1b[8ma\x1b[5;31mb\x1b[0m\n"}, "ab\n", "«│ a\x1b[31mb\x1b[0m\n", "│ ab\n"},
		{"cursor and screen", []string{"\x1b[2J\x1b[1;1H\x1b[?25la\x1bM\x1b7\x1b(0b\n"}, "ab\n", "«│ ab\n", "│ ab\n"},
		{"title", []string{"\x1b]0;evil\x07a\x1b]2;evil\x1b\\b\n"}, "ab\n", "«│ ab\n", "│ ab\n"},
		{"link", []string{"\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\\n"}, "text\n", "«│ text\n", "│ text\n"},
		{"a string without end loses no line", []string{"\x1b]0;never\nnext\n"}, "\nnext\n", "«│ \n«│ next\n", "│ \n│ next\n"},
		{"other controls", []string{"a\b\a\x00\x7fb\n"}, "a␈␇␀␡b\n", "«│ a␈␇␀␡b\n", "│ a␈␇␀␡b\n"},
		{"bidi", []string{"\u202ex\n"}, "<U+202E>x\n", "«│ <U+202E>x\n", "│ <U+202E>x\n"},
		{"sequence broken off by a line feed", []string{"\x1b[31\na\n"}, "\na\n", "«│ \n«│ a\n", "│ \n│ a\n"},
		{"nothing", nil, "", "", ""},
	}
	gutters := strings.NewReplacer("«│ ", "\x1b[2m│ \x1b[0m", "»┃ ", "\x1b[31m┃ \x1b[0m")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.pipe, paintAll(&Output{}, tt.chunks...))
			require.Equal(t, gutters.Replace(tt.terminal), paintAll(&Output{Live: true, Color: true}, tt.chunks...))
			require.Equal(t, tt.plain, paintAll(&Output{Live: true}, tt.chunks...))
		})
	}
}

func TestOutputMidLine(t *testing.T) {
	o := &Output{Live: true}
	require.False(t, o.MidLine())
	o.Chunk(stdout, []byte("a"))
	require.True(t, o.MidLine())
	o.Chunk(stdout, []byte("\n"))
	require.False(t, o.MidLine())
}

// A line of the kernel's in between changes nothing but the line.
func TestOutputBreak(t *testing.T) {
	o := &Output{Live: true, Color: true}
	got := o.Chunk(stdout, []byte("\x1b[31ma\xe6\x97")) + o.Break() + "kernel\n" + o.Break() + o.Chunk(stdout, []byte("\xa5\n"))
	require.Equal(t, "\x1b[2m│ \x1b[0m\x1b[31ma\x1b[0m\nkernel\n\x1b[2m│ \x1b[0m\x1b[31m日\x1b[0m\n", got)
}

// A sequence without end must not swallow what comes after it.
func TestOutputBoundsSequences(t *testing.T) {
	for _, begin := range []string{"\x1b]", "\x1bP", "\x1b["} {
		got := paintAll(&Output{}, begin+strings.Repeat("1", 10_000)+"end\n")
		require.Contains(t, got, "1111")
		require.Contains(t, got, "nd\n")
	}
}

// What may reach a terminal: colours, and the two sequences that start a line anew.
var (
	colours  = regexp.MustCompile(`\x1b\[[0-9;:]*m`)
	lineAnew = regexp.MustCompile(`\r\x1b\[K`)
)

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\r\nc"), 3)
	f.Add([]byte("\x1b]0;t\x07\xe6\x97\xa5\r1%\r2%"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		cut = min(max(cut, 0), len(data))
		for _, o := range []*Output{{}, {Live: true}, {Live: true, Color: true}} {
			got := o.Chunk(stdout, data[:cut]) + o.Chunk(stderr, data) + o.Chunk(stdout, data[cut:]) + o.End()
			require.True(t, utf8.ValidString(got))
			if o.Live {
				got = lineAnew.ReplaceAllString(got, "")
			}
			if o.Color {
				got = colours.ReplaceAllString(got, "")
			}
			require.Equal(t, got, Text(got))
		}
		whole, parts := &Output{}, &Output{}
		require.Equal(t, paintAll(whole, "", string(data)),
			parts.Chunk(stdout, data[:cut])+parts.Chunk(stdout, data[cut:])+parts.End(), "cut at %d", cut)
	})
}
