package text

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// utf16le is text as UTF-16 with a mark.
func utf16le(s string) []byte {
	raw := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(s)) {
		raw = append(raw, byte(unit), byte(unit>>8))
	}
	return raw
}

func TestDifference(t *testing.T) {
	narrow := func(s string) []byte { return []byte(s) }
	marked := func(s string) []byte { return []byte("\xef\xbb\xbf" + s) }
	for _, tt := range []struct {
		name, before, after string
		was, is             string
		above               int
	}{
		{"equal", "a\nb\n", "a\nb\n", "b\n", "b\n", 1},
		{"one of many", "1\n2\n3\nx\n5\n6\n7\n", "1\n2\n3\ny\n5\n6\n7\n", "3\nx\n5\n", "3\ny\n5\n", 2},
		{"at the start", "x\n2\n3\n", "y\n2\n3\n", "x\n2\n", "y\n2\n", 0},
		{"at the end", "1\n2\nx", "1\n2\ny\n", "2\nx", "2\ny\n", 1},
		{"within a line", "1\n2\naXb\n4\n5\n", "1\n2\naYb\n4\n5\n", "2\naXb\n4\n", "2\naYb\n4\n", 1},
		{"more of the same", "a\na\na\n", "a\na\na\na\na\n", "a\n", "a\na\na\n", 2},
		{"new", "", "a\n", "", "a\n", 0},
		{"a suffix that is no line", "xb\nc\nd\n", "b\nc\nd\n", "xb\nc\n", "b\nc\n", 0},
	} {
		for name, encode := range map[string]func(string) []byte{"narrow": narrow, "marked": marked, "wide": utf16le} {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				was, is, above := Difference(encode(tt.before), encode(tt.after), 1, 1<<10)
				mark := len(encode(""))
				require.Equal(t, string(encode(tt.was)[mark:]), string(was.Raw))
				require.Equal(t, string(encode(tt.is)[mark:]), string(is.Raw))
				require.Equal(t, tt.above, above)
				require.Equal(t, len(strings.Split(strings.TrimSuffix(tt.was, "\n"), "\n")), max(was.Lines, 1))
				require.False(t, was.Cut || is.Cut)
			})
		}
	}
	was, is, _ := Difference([]byte(strings.Repeat("a\n", 1000)), []byte(strings.Repeat("ä\n", 1000)), 3, 100)
	require.True(t, was.Cut && is.Cut)
	require.Equal(t, []int{100, 1000, 1000}, []int{len(was.Raw), was.Lines, is.Lines})
	require.LessOrEqual(t, len(is.Raw), 100)
}

// Whatever changes, the parts and what lies around them are the whole.
func FuzzDifference(f *testing.F) {
	f.Add([]byte("a\nb\nc"), []byte("a\nx\nc"), 1)
	f.Add([]byte("\xff\xfea\x00\n\x00b\x00"), []byte("\xff\xfea\x00\n\x00"), 0)
	f.Add([]byte("\xff\xfea\x00\n\x00b"), []byte("\xff\xfe\n\x00b"), 2)
	f.Fuzz(func(t *testing.T, before, after []byte, context int) {
		was, is, above := Difference(before, after, max(min(context, 5), 0), 1<<20)
		format := Detect(before)
		head := len(format.Mark())
		if Detect(after) == format {
			for format.lineEnds(before[len(format.Mark()):head]) < above {
				head++
			}
		}
		tail := len(before) - head - len(was.Raw)
		require.GreaterOrEqual(t, tail, 0)
		if Detect(after) != format {
			return
		}
		require.Equal(t, string(before[:head]), string(after[:head]))
		require.Equal(t, string(before[head:len(before)-tail]), string(was.Raw))
		require.Equal(t, string(after[head:len(after)-tail]), string(is.Raw))
		require.Equal(t, string(before[len(before)-tail:]), string(after[len(after)-tail:]))
	})
}
