package words

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func texts(lines []Line) [][]string {
	var all [][]string
	for _, l := range lines {
		var line []string
		for _, w := range l {
			line = append(line, w.Text)
		}
		all = append(all, line)
	}
	return all
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name, text string
		want       [][]string
	}{
		{"nothing", " \t\n\n", nil},
		{"words", "/changelog since=1.2.0", [][]string{{"/changelog", "since=1.2.0"}}},
		{"single quotes", `bash.bash command='go test "$X" \n'`, [][]string{{"bash.bash", `command=go test "$X" \n`}}},
		{"double quotes", `a "x \" \\ \$ \n y"`, [][]string{{"a", `x " \ $ \n y`}}},
		{"joined pieces", `a='b'"c"d\ e`, [][]string{{"a=bcd e"}}},
		{"empty word", `a ''`, [][]string{{"a", ""}}},
		{"lines", "a b\nc\r\n\nd", [][]string{{"a", "b"}, {"c"}, {"d"}}},
		{"line feed in quotes", "a 'b\nc'\nd", [][]string{{"a", "b\nc"}, {"d"}}},
		{"line feed behind a backslash", "a \\\n b \"c\\\nd\"", [][]string{{"a", "b", "cd"}}},
		{"comments", "# x 'y\na b#c # d\n", [][]string{{"a", "b#c"}}},
		{"nothing is expanded", "a $HOME *.go `x` | > ;", [][]string{{"a", "$HOME", "*.go", "`x`", "|", ">", ";"}}},
		{"wide characters", "a path=日本語", [][]string{{"a", "path=日本語"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, err := Split(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, texts(lines))
		})
	}
}

func TestSplitErrors(t *testing.T) {
	tests := []struct {
		name, text, want string
		at               int
	}{
		{"single quote", "a b='c d", "the quote ' is not closed", 4},
		{"double quote", "ok\n\"x\\\"", `the quote " is not closed`, 3},
		{"backslash", "a b\\", `there is nothing behind the \`, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Split(tt.text)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.EqualError(t, err, tt.want)
			require.Equal(t, tt.at, e.At)
			require.True(t, e.Unfinished)
		})
	}
}

func TestUnfinished(t *testing.T) {
	tests := []struct {
		name, text string
		before     []string
		word       string
		from       int
		quote      byte
		ok         bool
	}{
		{"nothing", "", nil, "", 0, 0, true},
		{"in a word", "a b=c", []string{"a"}, "b=c", 2, 0, true},
		{"between words", "a b ", []string{"a", "b"}, "", 4, 0, true},
		{"in a quote", "a b='c d", []string{"a"}, "b=c d", 2, '\'', true},
		{"behind a quote", "a b='c d'", []string{"a"}, "b=c d", 2, 0, true},
		{"behind a backslash", `a b=c\`, []string{"a"}, "b=c", 2, 0, true},
		{"the second line", "x y\na b", []string{"a"}, "b", 6, 0, true},
		{"in a comment", "a # b", nil, "", 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := Unfinished(tt.text)
			require.Equal(t, tt.ok, ok)
			var before []string
			for _, w := range p.Words {
				before = append(before, w.Text)
			}
			require.Equal(t, tt.before, before)
			require.Equal(t, tt.word, p.Word.Text)
			require.Equal(t, tt.from, p.Word.From)
			require.Equal(t, tt.quote, p.Quote)
		})
	}
}

func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a b\n": true, "a 'b\n": false, "a \"b\\\n": false, "a \\": false, "a \\\n": false, "a \\\nb\n": true, "# a \\\n": true, "'a \\\n'": true,
		"a\\#'\n": false, "\\\n#'\n": true, `a "\`: false, `a "\"`: false, `a "\x"`: true, "a \\\n\n": true,
	} {
		require.Equal(t, want, Complete(text), text)
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{"a b='c d' \"e\\\"\" # f\ng \\\nh", `\`, "'", "a \\\n# '", "a\\# \"\\\n", "#'\n'", "a\x00b", "日 本"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := Split(text)
		end := 0
		for _, line := range lines {
			require.NotEmpty(t, line)
			for _, w := range line {
				require.GreaterOrEqual(t, w.From, end, "words are in order")
				require.Greater(t, w.To, w.From)
				require.LessOrEqual(t, w.To, len(text))
				end = w.To
			}
		}
		whole := Complete(text)
		if !strings.HasSuffix(text, "\\\n") {
			require.Equal(t, err == nil, whole)
		}
		var rows Rows
		inRows := true
		for i := range len(text) { // cut anywhere
			inRows = rows.Add(text[i : i+1])
		}
		require.Equal(t, whole, inRows)
		if p, ok := Unfinished(text); ok {
			require.LessOrEqual(t, p.Word.From, len(text))
		}
		if err != nil {
			return
		}
		// What is quoted comes back as it was, and what is open is the same once it is closed.
		for _, line := range lines {
			var single, double, needed []string
			for _, w := range line {
				single = append(single, Open(w.Text, '\'')+"'")
				if NeedsQuotes(w.Text) {
					needed = append(needed, single[len(single)-1])
				} else {
					needed = append(needed, w.Text)
				}
				double = append(double, Open(w.Text, '"')+`"`)
			}
			for _, way := range [][]string{needed, single, double} {
				again, err := Split(strings.Join(way, " "))
				require.NoError(t, err)
				require.Equal(t, texts([]Line{line}), texts(again))
			}
		}
	})
}

// What is quoted is one word again, the same.
func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "plain", "two words", "it's", `a "b"`, `it's "both" \ $x`, "a\nb", "#no", "日本", "~", "\x00\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := Split("x " + Quote(text))
		require.NoError(t, err)
		require.Len(t, lines, 1)
		require.Len(t, lines[0], 2)
		require.Equal(t, text, lines[0][1].Text)
	})
}
