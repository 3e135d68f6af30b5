package host

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func cut(chunks ...[]byte) []string {
	var got []string
	l := &lines{emit: func(line string) { got = append(got, line) }}
	for _, chunk := range chunks {
		_, _ = l.Write(chunk)
	}
	l.Flush()
	return got
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", longestLine)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "a\n", []string{"a"}},
		{"without end", "a\nb", []string{"a", "b"}},
		{"empty ones", "\n\n", []string{"", ""}},
		{"from Windows", "a\r\nb\r\n", []string{"a", "b"}},
		{"not UTF-8", "a\xffb\n", []string{"a�b"}},
		{"just short enough", long + "\n", []string{long}},
		{"too long", long + "yyy\nz\n", []string{long + "… (8195 bytes in all)", "z"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, cut([]byte(test.in))) })
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\nc"), uint(2))
	f.Add(bytes.Repeat([]byte("é"), longestLine), uint(3))
	f.Fuzz(func(t *testing.T, in []byte, at uint) {
		whole := cut(in)
		i := int(at % uint(len(in)+1))
		require.Equal(t, whole, cut(in[:i], in[i:]), "where it is cut makes no difference")
		for _, line := range whole {
			require.True(t, utf8.ValidString(line))
			require.NotContains(t, line, "\n")
		}
	})
}

func TestFromHclog(t *testing.T) {
	tests := []struct {
		name, in, want string
		routine        bool
	}{
		{"plain", "panic: no", "panic: no", false},
		{"debug", `{"@level":"debug","@message":"plugin address"}`, "plugin address", true},
		{"error", `{"@level":"error","@message":"plugin init error","error":"no space"}`, "plugin init error: no space", false},
		{"other JSON", `{"a":1}`, `{"a":1}`, false},
		{"broken JSON", `{"@level":`, `{"@level":`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, routine := fromHclog(test.in)
			require.Equal(t, test.want, got)
			require.Equal(t, test.routine, routine)
		})
	}
}

func TestTailKeepsTheLast(t *testing.T) {
	var tail tail
	for i := range lastLines + 5 {
		tail.add(strings.Repeat("i", i))
	}
	require.Len(t, tail.lines(), lastLines)
	require.Len(t, tail.lines()[lastLines-1], lastLines+4)
}

// The reason of a crash stands above the stacks, of which there may be hundreds of lines.
func TestTailKeepsTheReason(t *testing.T) {
	var tail tail
	tail.add("runtime: goroutine stack exceeds 1000000000-byte limit")
	tail.add("fatal error: stack overflow")
	for range 10 * lastLines {
		tail.add("main.f(...)")
	}
	require.Len(t, tail.lines(), lastLines)
	require.Equal(t, ": fatal error: stack overflow", lastWords(tail.lines()))
}
