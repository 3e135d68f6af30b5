package edit

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/filesystem/internal/text"
)

// limit is more than the results here need.
const limit = 64 << 20

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		edits     []Edit
		want      string
	}{
		{"one word", "a b c", []Edit{{Old: "b", New: "x"}}, "a x c"},
		{"delete", "a b c", []Edit{{Old: " b", New: ""}}, "a c"},
		{"all", "b b b", []Edit{{Old: "b", New: "bb", All: true}}, "bb bb bb"},
		{"all, from the left", "aaa", []Edit{{Old: "aa", New: "b", All: true}}, "ba"},
		{"in order, on what came before", "x = old\n", []Edit{{Old: "old", New: "mid"}, {Old: "mid", New: "new"}}, "x = new\n"}, // FO-22
		{"literal", "price: PLACE\n", []Edit{{Old: "PLACE", New: "$$100 and $1"}}, "price: $$100 and $1\n"},                     // FO-19
		{"no newline invented", "a", []Edit{{Old: "a", New: "b"}}, "b"},

		{"LF finds CR LF", "alpha\r\nbeta\r\ngamma\r\n", []Edit{{Old: "alpha\nbeta", New: "ALPHA\nBETA"}}, "ALPHA\r\nBETA\r\ngamma\r\n"}, // FO-16
		{"CR LF finds CR LF", "a\r\nb\r\n", []Edit{{Old: "a\r\nb", New: "x\r\ny"}}, "x\r\ny\r\n"},
		{"CR LF finds LF", "a\nb\n", []Edit{{Old: "a\r\nb", New: "x"}}, "x\n"},
		{"CR LF is literal where there is none", "a\nb\n", []Edit{{Old: "a\nb", New: "a\r\nb"}}, "a\r\nb\n"},
		{"a CR before a line end", "a\r\r\nb\n", []Edit{{Old: "a\r\nb", New: "c"}}, "c\n"},
		{"a CR before one of the line ends", "\r\r\n\n", []Edit{{Old: "\r\n", New: "", All: true}}, "\n"},
		{"more lines than before", "a\r\nb\r\n", []Edit{{Old: "b", New: "1\n2\n3"}}, "a\r\n1\r\n2\r\n3\r\n"},
		{"more lines at the end", "a\r\nb", []Edit{{Old: "b", New: "1\n2"}}, "a\r\n1\r\n2"},
		{"mixed ends stay", "a\r\nb\nc\r\nd\n", []Edit{{Old: "a\nb\nc\nd", New: "A\nB\nC\nD"}}, "A\r\nB\nC\r\nD\n"},
		{"a new line in a mixed file follows its neighbour", "a\r\nb\nc\n", []Edit{{Old: "b", New: "x\ny"}}, "a\r\nx\ny\nc\n"},
		{"remove a line", "a\r\nb\r\nc\r\n", []Edit{{Old: "b\n", New: ""}}, "a\r\nc\r\n"},
		{"join lines", "a\r\nb\r\n", []Edit{{Old: "a\nb", New: "ab"}}, "ab\r\n"},

		{"mark stays", "\xef\xbb\xbfhello\nworld\n", []Edit{{Old: "world", New: "earth"}}, "\xef\xbb\xbfhello\nearth\n"}, // FO-17
		{"mark stays at an edit beside it", "\xef\xbb\xbfhello", []Edit{{Old: "hello", New: "bye"}}, "\xef\xbb\xbfbye"},
		{"stray byte elsewhere", "brand=Acme\x99\nport=80\n", []Edit{{Old: "port=80", New: "port=81"}}, "brand=Acme\x99\nport=81\n"}, // FO-18
		{"stray byte inside", "Acme\x99 1\n", []Edit{{Old: "Acme™ 1", New: "Acme™ 2"}}, "Acme\x99 2\n"},
		{"new text in the old encoding", "caf\xe9\n", []Edit{{Old: "café", New: "thé"}}, "th\xe9\n"},
		{"both encodings", "é \x99 x\n", []Edit{{Old: "é ™ x", New: "é ™ ü"}}, "é \x99 ü\n"},
		{"UTF-16", "\xff\xfea\x00b\x00\r\x00\n\x00", []Edit{{Old: "b\n", New: "é\n😀\n"}}, "\xff\xfea\x00\xe9\x00\r\x00\n\x00\x3d\xd8\x00\xde\r\x00\n\x00"},
		{"characters that begin alike", "é", []Edit{{Old: "é", New: "è"}}, "è"},
		{"characters that end alike", "\u00e9", []Edit{{Old: "\u00e9", New: "\u0129"}}, "\u0129"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := []byte(tt.raw)
			got, err := Apply(t.Context(), text.NewView(raw), tt.edits, limit)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got.Content))
			require.Equal(t, tt.raw, string(raw), "the input is never changed")
			require.Len(t, got.Counts, len(tt.edits))
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	conf := "dev:\n  debug=1\nprod:\n  debug=1\n"
	for _, tt := range []struct {
		name, raw string
		edits     []Edit
		want      error
		says      []string
	}{
		{"ambiguous", conf, []Edit{{Old: "  debug=1", New: "  debug=0"}}, &Ambiguous{}, []string{"2 times", "lines 2, 4"}}, // FO-20
		{"overlapping", "aaa", []Edit{{Old: "aa", New: "b"}}, &Ambiguous{}, []string{"2 times", "line 1"}},
		{"absent", "a = 1\nb = 2\n", []Edit{{Old: "a = 1", New: "a = 10"}, {Old: "zzz", New: "y"}}, &NoMatch{}, []string{"edit 2 of 2", "nothing in the file is like it"}}, // FO-21
		{"empty", "a", []Edit{{New: "y"}}, &Malformed{}, []string{"old_string is empty"}},
		{"same", "a", []Edit{{Old: "a", New: "a"}}, &Malformed{}, []string{"nothing to change"}},
		{"no such character", "caf\xe9", []Edit{{Old: "é", New: "→"}}, &text.Unencodable{}, []string{"'→'"}},
		{"white space", "if x {\n\treturn\n}\n", []Edit{{Old: "if x {\n    return\n}", New: "y"}}, &NoMatch{}, []string{"only in white space", "line 1", "\treturn"}},
		{"nearly", "one\nfunc Parse(name string) error {\nthree\n", []Edit{{Old: "func Parse(name string) {", New: "y"}}, &NoMatch{}, []string{"nearest text, on line 2", "func Parse(name string) error {"}},
		{"line numbers", "if x {\n\treturn\n}\n", []Edit{{Old: "     1\tif x {\n     2\t\treturn", New: "y"}}, &NoMatch{}, []string{"same text without line numbers, on line 1", "\treturn"}},
		{"a number of one's own", "port = 80\n", []Edit{{Old: "8: port = 81", New: "y"}}, &NoMatch{}, []string{"the nearest text, on line 1"}},
		{"escapes", "a {\n\tb\n}\n", []Edit{{Old: `a {\n\tb`, New: "y"}}, &NoMatch{}, []string{"in place of escapes, on line 1"}},
		{"quotes", "say \"x\"\n", []Edit{{Old: "say “x”", New: "y"}}, &NoMatch{}, []string{"straight quotes", "line 1"}},
		{"entities", "\na < b\n", []Edit{{Old: "a &lt; b", New: "y"}}, &NoMatch{}, []string{"without HTML entities, on line 2"}},
		{"composed characters", "cafe\u0301 = 1\n", []Edit{{Old: "caf\u00e9 = 1", New: "y"}}, &NoMatch{}, []string{"composed in another way", "line 1"}}, // FO-41
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Apply(t.Context(), text.NewView([]byte(tt.raw)), tt.edits, limit)
			require.Error(t, err)
			var failure *Failure
			require.ErrorAs(t, err, &failure)
			require.IsType(t, tt.want, failure.Err)
			for _, words := range tt.says {
				require.ErrorContains(t, err, words)
			}
		})
	}
}

func TestAmbiguousListsAFew(t *testing.T) {
	_, err := Apply(t.Context(), text.NewView([]byte(strings.Repeat("x\n", 1000))), []Edit{{Old: "x", New: "y"}}, limit)
	require.ErrorContains(t, err, "1000 times")
	require.ErrorContains(t, err, "19, 20 and more")
}

func TestNearestIsBounded(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	_, err := Apply(t.Context(), text.NewView([]byte("a"+long+"\n")), []Edit{{Old: "b" + long, New: ""}}, limit)
	require.Error(t, err)
	require.Less(t, len(err.Error()), 4<<10)
}

// Bytes outside of what was matched stay, the new text is in the result as
// asked, and undoing an edit by the opposite one restores the file.
func FuzzApply(f *testing.F) {
	f.Add([]byte("alpha\r\nbeta\n"), "a\nb", "x\ny")
	f.Add([]byte("\xef\xbb\xbfcaf\xe9 é"), "caf", "thé")
	f.Add([]byte("\xff\xfea\x00\r\x00\n\x00"), "a", "\n")
	f.Add([]byte("aaaa"), "aa", "a")
	f.Fuzz(func(t *testing.T, raw []byte, old, new string) {
		old, new = strings.ToValidUTF8(old, "?"), strings.ToValidUTF8(new, "?")
		before := text.NewView(raw)
		got, err := Apply(t.Context(), text.NewView(raw), []Edit{{Old: old, New: new}}, limit)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		sought := Edit{Old: old}.sought(before)
		at := strings.Index(string(before.Text), sought)
		require.GreaterOrEqual(t, at, 0)
		head, tail := raw[:before.Offset(at)], raw[before.Offset(at+len(sought)):]
		require.True(t, strings.HasPrefix(string(got.Content), string(head)))
		require.True(t, strings.HasSuffix(string(got.Content), string(tail)))
		if before.Format.Wide() || before.Census.Legacy > 0 || strings.Contains(old+new+string(raw), "\r") {
			return
		}
		require.Equal(t, string(head)+new+string(tail), string(got.Content))
	})
}

// What takes time that grows with the square of its input takes no time here:
// without a bound these would run for hours.
func TestApplyIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name, raw, old, says string
	}{
		{"matches that overlap", strings.Repeat("a", 8<<20), strings.Repeat("a", 1<<20), "8 times"},
		{"lines that nearly match", strings.Repeat("a\n", 2<<20), strings.Repeat("a\n", 1<<19) + "b", "not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Apply(t.Context(), text.NewView([]byte(tt.raw)), []Edit{{Old: tt.old, New: "x"}}, limit)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestApplyStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Apply(ctx, text.NewView([]byte("a")), []Edit{{Old: "a", New: "b"}}, limit)
	require.ErrorIs(t, err, context.Canceled)
}

// A million letters, each replaced by a million, would be a terabyte.
func TestApplyRefusesWhatGrowsTooLarge(t *testing.T) {
	raw := []byte(strings.Repeat("a", 1<<20))
	_, err := Apply(t.Context(), text.NewView(raw), []Edit{{Old: "a", New: strings.Repeat("b", 1<<20), All: true}}, limit)
	var large *TooLarge
	require.ErrorAs(t, err, &large)
	got, err := Apply(t.Context(), text.NewView(raw[:4]), []Edit{{Old: "a", New: "bb", All: true}}, 8)
	require.NoError(t, err)
	require.Equal(t, "bbbbbbbb", string(got.Content))
	_, err = Apply(t.Context(), text.NewView(raw[:4]), []Edit{{Old: "a", New: "bb", All: true}}, 7)
	require.ErrorAs(t, err, &large)
}
