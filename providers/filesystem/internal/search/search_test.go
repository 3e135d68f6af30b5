package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func compile(t require.TestingT, q Query) *Matcher {
	m, err := Compile(q)
	require.NoError(t, err, q.Pattern)
	return m
}

// everything is asked of a file, unless said otherwise.
func everything(m *Matcher) Options {
	return Options{Matcher: m, Lines: true, Keep: 1 << 30, Room: 1 << 30}
}

func find(t require.TestingT, q Query, body string) File {
	got, err := Search(strings.NewReader(body), everything(compile(t, q)))
	require.NoError(t, err)
	return got
}

func numbers(f File) []int {
	found := []int{}
	for _, l := range f.Lines {
		found = append(found, l.Number)
	}
	return found
}

func TestSearch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		query Query
		body  string
		want  []int
	}{
		{"text", Query{Pattern: "needle"}, "a\nneedle\nb needles\n", []int{2, 3}},
		{"no newline at the end", Query{Pattern: "b$"}, "a\nb", []int{2}},
		{"a dash", Query{Pattern: "--release"}, "run --release -v\n", []int{1}}, // FO-37
		{"a dash and a letter", Query{Pattern: "-v"}, "run --release -v\n", []int{1}},
		{"literal", Query{Pattern: "a.b(", Literal: true}, "a.b(\naxb(\n", []int{1}},
		{"case", Query{Pattern: "Error", IgnoreCase: true}, "ERROR\nerror\nterror\nerr\n", []int{1, 2, 3}},
		{"case with letters that fold further", Query{Pattern: "kiss", IgnoreCase: true}, "KISS\n\u212ai\u017fs\nkis\n", []int{1, 2}},
		{"case in the pattern", Query{Pattern: "(?i)x+yz"}, "XXYZ\nxy\n", []int{1}},
		{"one of several", Query{Pattern: "TODO|FIXME|XXX"}, "x\nFIXME\nTODO XXX\n", []int{2, 3}},
		{"common start", Query{Pattern: "foo(bar|baz)+q"}, "foobarbazq\nfooq\n", []int{1}},
		{"line start", Query{Pattern: "^a"}, "ab\nba\nac\n", []int{1, 3}},
		{"line end before CR", Query{Pattern: "b$"}, "ab\r\nba\r\nb\r\n", []int{1, 3}},
		{"empty lines", Query{Pattern: "^$"}, "a\n\nb\n\n", []int{2, 4}},
		{"white space stops at the line", Query{Pattern: `a\s+b`}, "a\nb\na  b\n", []int{3}},
		{"not a class of line ends", Query{Pattern: `a[^b]c`}, "a\nc\naxc\n", []int{3}},
		{"byte-order mark", Query{Pattern: "^a"}, "\xef\xbb\xbfa\nb\na\n", []int{1, 3}},
		{"only a byte-order mark", Query{Pattern: "^"}, "\xef\xbb\xbf", []int{}},
		{"Latin-1", Query{Pattern: "café"}, "caf\xe9\ncafé\ncafe\n", []int{1, 2}},
		{"Latin-1 in any case", Query{Pattern: "CAFÉ", IgnoreCase: true}, "caf\xe9\ncafé\ncafe\n", []int{1, 2}},
		{"beside Latin-1", Query{Pattern: "port"}, "caf\xe9 port\n", []int{1}},
		{"a character alone", Query{Pattern: "é"}, "\xe9\né\ne\n", []int{1, 2}},
		{"nothing", Query{Pattern: "zzz"}, "a\n", []int{}},
		{"empty file", Query{Pattern: ".*"}, "", []int{}},
		{"across lines", Query{Pattern: `a\nb`, Multiline: true}, "x\na\nb\na\r\nb\nc", []int{2, 4}},
		{"dot across lines", Query{Pattern: `a.*?c`, Multiline: true}, "a\nb\nc\nac\n", []int{1, 4}},
		{"line start across lines", Query{Pattern: `^b$`, Multiline: true}, "a\nb\nb\n", []int{2, 3}},
		{"literal across lines", Query{Pattern: "a(\nb", Multiline: true, Literal: true}, "a(\nb\n", []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, numbers(find(t, tt.query, tt.body)))
		})
	}
}

func TestTextOfWhatIsFound(t *testing.T) {
	require.Equal(t, []Line{{Number: 1, Text: "café"}}, find(t, Query{Pattern: "caf"}, "caf\xe9\r\n").Lines)
	require.Equal(t, []Line{{Number: 2, End: 3, Text: "xa\nby"}}, find(t, Query{Pattern: `a\nb`, Multiline: true}, "\nxa\r\nby\r\n").Lines)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var wide []byte
		for _, unit := range utf16.Encode([]rune("\ufeffa\r\nnaïve 𝒳\r\n")) {
			wide = order.AppendUint16(wide, unit)
		}
		require.Equal(t, []Line{{Number: 2, Text: "naïve 𝒳"}}, find(t, Query{Pattern: "ï"}, string(wide)).Lines)
	}
}

func TestBinaryFiles(t *testing.T) {
	far := strings.Repeat("x\n", 50_000)
	for _, tt := range []struct {
		name, body string
		want       bool
	}{
		{"at the start", "\x00needle\n", true},
		{"in the block of a match", far[:20_000] + "\x00\nneedle\n", true},
		{"in an earlier block", far + "\x00" + far + far + "needle\n", true},
		{"after a match", "needle\n" + far + far + "\x00", true},
		{"text", far + "needle\n", false},
	} {
		got := find(t, Query{Pattern: "needle"}, tt.body)
		require.Equal(t, tt.want, got.Binary, tt.name)
		if tt.want {
			require.Zero(t, got.Matches, tt.name)
		} else {
			require.Equal(t, 1, got.Matches, tt.name)
		}
	}
}

// FO-36: what is shown of a long line is around the match, whole characters.
func TestLongLines(t *testing.T) {
	for _, size := range []int{clipTo / 2, clipTo, 600_000, 3 << 20} {
		body := "first\n" + strings.Repeat("é", size/2) + "needle" + strings.Repeat("ü", 25_000) + "\nneedle\nlast needle"
		got := find(t, Query{Pattern: "n[e]+dle"}, body)
		require.Equal(t, []int{2, 3, 4}, numbers(got), size)
		line := got.Lines[0]
		require.True(t, line.Clipped)
		require.Contains(t, line.Text, "needle")
		require.LessOrEqual(t, len(line.Text), clipTo)
		require.Greater(t, len(line.Text), clipTo-8)
		require.True(t, utf8.ValidString(line.Text))
		require.False(t, got.Lines[1].Clipped)
	}
}

// A pattern that asks for the ends of a line finds those of the line and not
// those of a block.
func TestEndsOfLongLines(t *testing.T) {
	small := sizes{first: 1 << 10, line: 8 << 10, overlap: 1 << 10}
	body := strings.Repeat("ab", 32<<10) + "\n"
	for pattern, want := range map[string][]int{"^ab": {1}, "^b": {}, "^a.*c$": {}, "ab$": {1}, "a$": {}, "b": {1}, "ab.*": {1}, ".*ab": {1}, ".*bx": {}} {
		got, err := scan(strings.NewReader(body), everything(compile(t, Query{Pattern: pattern})), small, make([]byte, 0, small.first))
		require.NoError(t, err)
		require.Equal(t, want, numbers(got), pattern)
	}
}

// letters is a line without end.
type letters struct{ n int64 }

func (l *letters) Read(p []byte) (int, error) {
	if l.n <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'a'
	}
	l.n -= int64(len(p))
	return len(p), nil
}

func TestALineOfAGibibyteIsNotMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1 GiB")
	}
	m := compile(t, Query{Pattern: "needle"})
	r := io.MultiReader(&letters{1 << 30}, strings.NewReader("needle\nx needle\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Search(r, everything(m))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, 2, got.Matches)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

func TestModes(t *testing.T) {
	body := strings.Repeat("needle\nx\n", 100_000)
	m := compile(t, Query{Pattern: "needle"})
	got, err := Search(strings.NewReader(body), Options{Matcher: m})
	require.NoError(t, err)
	require.Equal(t, File{Matches: 1}, got)
	got, err = Search(strings.NewReader(body), Options{Matcher: m, Count: true})
	require.NoError(t, err)
	require.Equal(t, File{Matches: 100_000}, got)
	got, err = Search(strings.NewReader(body), Options{Matcher: m, Lines: true, Keep: 3, Room: 1 << 20})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3, 5}, numbers(got))
	require.Equal(t, 100_000, got.Matches)
	got, err = Search(strings.NewReader(body), Options{Matcher: m, Lines: true, Keep: 1000, Room: 20, Skip: 2})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3, 5, 7, 9, 11}, numbers(got), "room for four, behind two that are skipped")
}

func TestTooLargeForAPatternAcrossLines(t *testing.T) {
	got := find(t, Query{Pattern: "a\nb", Multiline: true}, strings.Repeat("x\n", usual.whole))
	require.Equal(t, File{TooLarge: true}, got)
}

func TestStopped(t *testing.T) {
	var stopped atomic.Bool
	stopped.Store(true)
	got, err := Search(strings.NewReader(strings.Repeat("x\n", 1<<20)+"needle\n"), Options{Matcher: compile(t, Query{Pattern: "needle"}), Stopped: &stopped})
	require.NoError(t, err)
	require.Zero(t, got.Matches)
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("the disk is broken")
	_, err := Search(io.MultiReader(strings.NewReader("needle\n"), iotest.ErrReader(broken)), everything(compile(t, Query{Pattern: "needle"})))
	require.ErrorIs(t, err, broken)
}

// FO-38
func TestErrorsPointAtTheCharacter(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		column  int
		says    string
	}{
		{"foo|bar(", 8, "missing closing )"},
		{"(a)b)", 5, "unexpected )"},
		{`[)]\)(`, 6, "missing closing )"},
		{"ä[b", 2, "missing closing ]"},
		{"a**", 2, "invalid nested repetition"},
		{"+a", 1, "missing argument"},
		{"x(?=y)", 2, "invalid or unsupported Perl syntax"},
		{`a\1`, 2, "invalid escape sequence"},
		{`a\nb`, 0, "set multiline"},
		{"", 0, "empty"},
	} {
		_, err := Compile(Query{Pattern: tt.pattern})
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, tt.pattern)
		require.Equal(t, tt.column, syntax.Column, err.Error())
		require.Contains(t, err.Error(), tt.says)
	}
}

func TestLiterals(t *testing.T) {
	for pattern, want := range map[string][]string{
		"needle": {"needle"}, "a(b|c)d": {"abd", "acd"}, "foo|bar": {"bar", "foo"}, "x*needle.*": {"needle"}, "(abc)+d": {"abc"}, "[a-z]+": nil,
		"func \\w+\\(ctx": {"func "}, "(?i)Error": {"error"}, "ab?c": {"abc", "ac"}, "a{3}": {"aaa"}, "(foo|ba*r)x": nil, "^needle$": {"needle"}, ".*": nil,
	} {
		m := compile(t, Query{Pattern: pattern})
		var got []string
		for _, n := range m.finder.needles {
			got = append(got, string(n.text))
		}
		if pattern == "(foo|ba*r)x" {
			require.LessOrEqual(t, len(got), 2)
			continue
		}
		if pattern == "func \\w+\\(ctx" { // either would do
			require.Len(t, got, 1)
			continue
		}
		require.ElementsMatch(t, want, got, pattern)
	}
}

// simply finds lines the way anybody would, for comparison.
func simply(q Query, body string, before, after int) (lines []Line) {
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if q.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	re := regexp.MustCompile(pattern)
	all := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if body == "" {
		return nil
	}
	shown := 0
	for i := range all {
		all[i] = string(decoded([]byte(strings.TrimSuffix(all[i], "\r"))))
	}
	for i, l := range all {
		if len(lines) > 0 && i >= shown && i <= lines[len(lines)-1].Number-1+after && !re.MatchString(l) {
			lines[len(lines)-1].After = append(lines[len(lines)-1].After, l)
			shown = i + 1
		}
		if re.MatchString(l) {
			line := Line{Number: i + 1, Text: l}
			for n := max(shown, i-before); n < i; n++ {
				line.Before = append(line.Before, all[n])
			}
			lines = append(lines, line)
			shown = i + 1
		}
	}
	return lines
}

// Wherever blocks end, whatever the pattern: the answer is that of a plain loop.
func TestAgreesWithAPlainLoop(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "needle", "NEEDLE", "é", "\xe9", " ", "x", "k", "\u212a", "\r", "foo", "bar", "\n", "\n", "\n", "\r\n"})
	pattern := rapid.SampledFrom([]string{"needle", "a", "foo|bar", "a.*b", "^", "$", "^a", "b$", "x?", "é", "[^a]+", `\w+dle`, "(foo|bar)+", "(?i)needle", "k", `\s`, "aa|b|né", "x{2,}", "a|", "needle|^$", `\bfoo\b`, "(?i)Éa?"})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 80).Draw(t, "body"), "")
		q := Query{Pattern: pattern.Draw(t, "pattern"), IgnoreCase: rapid.Bool().Draw(t, "ignore case")}
		o := everything(compile(t, q))
		o.Before, o.After = rapid.IntRange(0, 3).Draw(t, "before"), rapid.IntRange(0, 3).Draw(t, "after")
		first := rapid.IntRange(1, 64).Draw(t, "block")
		reader := rapid.SampledFrom([]func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader}).Draw(t, "reader")
		want := simply(q, body, o.Before, o.After)
		got, err := Search(reader(strings.NewReader(body)), o)
		require.NoError(t, err)
		require.Equal(t, File{Matches: len(want), Lines: want}, got)

		small := sizes{first: first, line: 1 << 12, overlap: 16, whole: 1 << 20}
		got, err = scan(reader(strings.NewReader(body)), o, small, make([]byte, 0, first))
		require.NoError(t, err)
		for i := range min(len(want), len(got.Lines)) { // a small block holds fewer lines before a match
			want[i].Before, got.Lines[i].Before = nil, nil
		}
		require.Equal(t, File{Matches: len(want), Lines: want}, got)
	})
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"a(b|c)*", "(?i)é+", "[[:alpha:]]", "a{2,3}", `\pL`, "(", "[a"} {
		f.Add(s, "some text\nwith caf\xe9\r\nlines")
	}
	f.Fuzz(func(t *testing.T, pattern, body string) {
		m, err := Compile(Query{Pattern: pattern})
		if err != nil || strings.Contains(body, "\x00") || bytes.HasPrefix([]byte(body), []byte("\xff\xfe")) || strings.HasPrefix(body, "\xfe\xff") || strings.HasPrefix(body, "\xef\xbb\xbf") {
			return
		}
		got, err := Search(strings.NewReader(body), everything(m))
		require.NoError(t, err)
		require.Len(t, simply(Query{Pattern: pattern}, body, 0, 0), got.Matches)
	})
}
