package lineedit

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/paint"
)

// edited presses keys, and returns the text with | for the cursor.
func edited(t *testing.T, e *Editor, typed string) (*line, string) {
	t.Helper()
	l := &line{editor: e, history: e.History.begin()}
	for rest := []byte(typed); len(rest) > 0; {
		k, n := decode(rest, true)
		require.Positive(t, n)
		rest = rest[n:]
		_, err := l.press(k)
		require.NoError(t, err)
	}
	return l, l.text[:l.at] + "|" + l.text[l.at:]
}

func TestEditing(t *testing.T) {
	history := &History{lines: []string{"first", "second one", "third"}}
	tests := []struct{ name, typed, want string }{
		{"insert", "ab\x02X", "aX|b"},
		{"beginning and end", "b\x01a\x05c", "abc|"},
		{"wide characters", "日本語\x1b[D\x1b[D\x7f", "|本語"},
		{"combining marks go with their letter", "ae\u0301\x7f", "a|"},
		{"a mark alone joins the letter before the cursor", "ab\x02\u0301", "a\u0301|b"},
		{"a family is one character", "x👨‍👩‍👧y\x1b[D\x1b[D\x04", "x|y"},
		{"flags are pairs", "🇩🇪🇫🇷\x7f", "🇩🇪|"},
		{"words", "one two-three\x1bb\x1bbX", "one X|two-three"},
		{"word forwards", "one two\x01\x1bfX", "oneX| two"},
		{"cut to the end and give it back", "one two\x1bb\x0b\x01\x19", "two|one "},
		{"cut to the start", "one two\x1bb\x15", "|two"},
		{"cut a word back, up to a blank", "a path=x/y \x17", "a |"},
		{"cut a word forwards", "one two\x01\x1bd", "| two"},
		{"delete", "ab\x01\x04\x1b[3~", "|"},
		{"nothing to delete", "\x7f\x1b[3~\x02\x06a\x04", "a|"},
		{"rows", "ab\x1b\rcd\x01X\x1b[D\x1b[D\x01Y", "Y|ab\nXcd"},
		{"paste of rows", "x\x1b[200~a\nb\x1b[201~y", "xa\nby|"},
		{"previous and next", "new\x10\x10\x0e", "third|"},
		{"back to what was begun", "new\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B", "new|"},
		{"the oldest is the last", "\x10\x10\x10\x10", "first|"},
		{"search", "\x12on", "sec|ond one"},
		{"search further", "\x12ir\x12", "f|irst"},
		{"search for what is not there", "ab\x12ir\x1cx", "ab|"},
		{"Enter runs nothing that was not found", "ab\x12irx\rc", "abc|"}, // the line goes on
		{"search for what is no longer there", "\x12irx\x7f", "th|ird"},
		{"search further than there is", "\x12ir\x12\x12", "f|irst"},
		{"search and edit", "\x12on\x05!", "second one!|"},
		{"leave a search", "ab\x12on\x07", "ab|"},
		{"search with fewer letters", "\x12first\x7f\x7f\x7f\x7f\x7f", "|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := edited(t, &Editor{History: history}, tt.typed)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEnds(t *testing.T) {
	l := &line{editor: &Editor{Unfinished: func(s string) bool { return strings.Count(s, "'") == 1 }}, history: &walk{}}
	_, err := l.press(key{command: deleteOrEnd})
	require.ErrorIs(t, err, io.EOF)
	_, err = l.press(key{command: interrupt})
	require.ErrorIs(t, err, ErrInterrupted)
	l.insert("'a")
	l.at = 0
	done, err := l.press(key{command: enter})
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, "'a\n", l.text)
	l.insert("'")
	done, err = l.press(key{command: enter})
	require.NoError(t, err)
	require.True(t, done)
}

func TestCompleting(t *testing.T) {
	offer := func(texts ...string) func(string, int) Completions {
		return func(text string, at int) Completions {
			c := Completions{From: strings.LastIndexByte(text[:at], ' ') + 1}
			for _, s := range texts {
				c.Choices = append(c.Choices, Choice{Text: s})
			}
			return c
		}
	}
	two := offer("read_file ", "read_many ")
	tests := []struct {
		name     string
		complete func(string, int) Completions
		typed    string
		want     string
		listed   bool
	}{
		{"nothing to offer", offer(), "x\t", "x|", false},
		{"one", offer("read_file "), "x re\ty", "x read_file y|", false},
		{"in the middle", offer("read_file "), "re x\x02\x02\t", "read_file | x", false},
		{"what all agree on", two, "r\t", "read_|", true},
		{"choose", two, "r\t\t", "read_file |", true},
		{"choose the next", two, "r\t\t\t", "read_many |", true},
		{"and around", two, "r\t\t\t\t", "read_file |", true},
		{"backwards", two, "r\t\x1b[Z", "read_many |", true},
		{"arrows", two, "r\t\x1b[B\x1b[B\x1b[A", "read_file |", true},
		{"enter takes it", two, "r\t\t\rx", "read_file x|", false},
		{"escape takes nothing", two, "r\t\t\x1b", "read_|", false},
		{"typing goes on", two, "r\tm", "read_m|", false},
		{"quotes that are needed", offer("'my files/", "'my face' "), "my\t", "'my f|", true},
		{"no agreement", offer("a.read ", "b.read "), "read\t", "read|", true},
		{"not within a character", offer("e\u0301a", "e\u0300b"), "\t", "|", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, got := edited(t, &Editor{Complete: tt.complete}, tt.typed)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.listed, l.menu != nil)
		})
	}
}

// Whatever is typed, the cursor is between characters, and no row is wider than the terminal.
func FuzzEditing(f *testing.F) {
	for _, typed := range []string{"a日e\u0301\x1b[D\x7f\x02", "\x1b[200~a\nb\x1b[201~\x12a", "👨‍👩‍👧\x01\u0301\x05\u200d👧", "x\t\t\x1b[Z\r"} {
		f.Add(typed, 40)
	}
	f.Fuzz(func(t *testing.T, typed string, columns int) {
		if len(typed) > 200 || strings.Count(typed, "\x19") > 4 { // Ctrl-Y can double a line at every key
			return
		}
		columns = 4 + max(0, columns%80)
		e := &Editor{History: &History{lines: []string{"one", "日本\ntwo"}}, Complete: func(_ string, at int) Completions {
			return Completions{From: at, Choices: []Choice{{Text: "ab日"}, {Text: "ab本"}}}
		}}
		l := &line{editor: e, history: e.History.begin()}
		s := &screen{out: io.Discard, prompt: "project> "}
		for rest := []byte(typed); len(rest) > 0; {
			k, n := decode(rest, true)
			if n == 0 {
				require.True(t, isPaste(rest), "only a paste waits for more")
				return
			}
			rest = rest[n:]
			_, _ = l.press(k)
			at := 0
			for at < l.at {
				at = after(l.text, at)
			}
			require.Equal(t, at, l.at)
			s.draw(l, func() (int, int) { return columns, 10 })
			require.Less(t, s.drawn.cursor.column, columns)
			require.Less(t, s.drawn.cursor.row, len(s.drawn.rows))
			for _, r := range s.drawn.rows {
				require.LessOrEqual(t, r.width, columns)
			}
		}
		require.LessOrEqual(t, paint.Width(s.promptOf(l, columns).text), columns)
	})
}
