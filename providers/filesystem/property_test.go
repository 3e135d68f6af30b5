package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"pgregory.net/rapid"

	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/sdk/sdktest"
)

// line is a line of a text file, without its end.
func line() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-c ]{0,6}`), // so that lines are alike
		rapid.StringMatching(`[ \tа-яäöü€😀e\x{301}{}()"$\\-]{0,20}`),
		rapid.Map(rapid.IntRange(1, 3000), func(n int) string { return strings.Repeat("long ", n) }),
	)
}

// textFile is a file and what it is written in.
type textFile struct {
	raw      []byte
	encoding string
}

func textFiles() *rapid.Generator[textFile] {
	return rapid.Custom(func(t *rapid.T) textFile {
		lines := rapid.SliceOfN(line(), 1, 12).Draw(t, "lines")
		ends := rapid.SampledFrom([][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}, {"\n", "\r"}}).Draw(t, "ends")
		var body strings.Builder
		for i, l := range lines {
			body.WriteString(l)
			if i < len(lines)-1 || rapid.Bool().Draw(t, "final") {
				body.WriteString(rapid.SampledFrom(ends).Draw(t, "end"))
			}
		}
		f := textFile{encoding: rapid.SampledFrom([]string{"utf-8", "bom", "utf-16le", "utf-16be", "latin-1", "stray"}).Draw(t, "encoding")}
		f.raw = encode(body.String(), f.encoding)
		return f
	})
}

func encode(s, encoding string) []byte {
	switch encoding {
	case "bom":
		return []byte("\xef\xbb\xbf" + s)
	case "utf-16le", "utf-16be":
		raw := []byte{0xff, 0xfe}
		for _, unit := range utf16.Encode([]rune(s)) {
			raw = append(raw, byte(unit), byte(unit>>8))
		}
		if encoding == "utf-16be" {
			for i := 0; i < len(raw); i += 2 {
				raw[i], raw[i+1] = raw[i+1], raw[i]
			}
		}
		return raw
	case "latin-1":
		var raw []byte
		for _, r := range s {
			if b, ok := charmap.ISO8859_1.EncodeRune(r); ok {
				raw = append(raw, b)
			}
		}
		return raw
	case "stray":
		return []byte(s + "\x99" + s)
	}
	return []byte(s)
}

// Whatever the file and the edit: bytes outside the match stay, an error changes
// nothing, and undo brings every byte and the mode back.
func TestEditProperty(t *testing.T) {
	w := newWorld(t, nil)
	name := filepath.Join(w.root, "f")
	rapid.Check(t, func(t *rapid.T) {
		f := textFiles().Draw(t, "file")
		mode := os.FileMode(rapid.SampledFrom([]uint32{0o644, 0o600, 0o755, 0o640}).Draw(t, "mode"))
		require.NoError(t, os.RemoveAll(name))
		require.NoError(t, os.WriteFile(name, f.raw, 0o600))
		require.NoError(t, os.Chmod(name, mode))
		v := text.NewView(f.raw)
		if v.Census.Binary() || len(v.Text) == 0 {
			return
		}
		runes := []rune(string(v.Text))
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, min(len(runes), from+200)).Draw(t, "to")
		old := string(runes[from:to])
		fresh := strings.Join(rapid.SliceOfN(line(), 1, 4).Draw(t, "new"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "given"))
		all := rapid.Bool().Draw(t, "all")

		require.Nil(t, w.Call(t.Context(), "read_file", args{"path": "f"}).Err)
		got := w.Call(t.Context(), "edit_file", args{"path": "f", "old_string": old, "new_string": fresh, "replace_all": all})
		after, err := os.ReadFile(name)
		require.NoError(t, err)
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode())
		if got.Err != nil {
			require.Contains(t, []any{invalid, notFound}, got.Err.GetCategory())
			require.Equal(t, f.raw, after)
			return
		}
		first := strings.Index(string(v.Text), old)
		last := strings.LastIndex(string(v.Text), old)
		require.GreaterOrEqual(t, first, 0)
		if n := strings.Count(string(v.Text), old); !all || n == 1 {
			require.Equal(t, 1, n)
			last = first
		}
		require.Equal(t, string(f.raw[:v.Offset(first)]), string(after[:v.Offset(first)]), "what is before stays")
		rest := f.raw[v.Offset(last+len(old)):]
		require.Equal(t, string(rest), string(after[len(after)-len(rest):]), "what is after stays")

		if string(after) != string(f.raw) {
			got = w.Call(t.Context(), "undo", args{"path": "f"})
			require.Nil(t, got.Err, "%v", got.Err)
		}
		back, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, f.raw, back)
		info, err = os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode())
	})
	w.noTemporaryFiles()
}

// Reading a file page by page shows the whole text, each line once; of a line
// that is longer than a result its beginning.
func TestReadProperty(t *testing.T) {
	const room = 20_000
	w := newWorld(t, args{"max_result_bytes": room})
	name := filepath.Join(w.root, "f")
	rapid.Check(t, func(t *rapid.T) {
		f := textFiles().Draw(t, "file")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		require.NoError(t, os.WriteFile(name, f.raw, 0o600))
		v := text.NewView(f.raw)
		if v.Census.Binary() {
			return
		}
		var shown strings.Builder
		for offset := 1.; ; {
			got := w.Call(t.Context(), "read_file", args{"path": "f", "offset": offset, "limit": limit})
			require.Nil(t, got.Err, "%v", got.Err)
			shown.WriteString(got.Result["content"].(string))
			next, more := got.Result["next_offset"]
			if !more {
				break
			}
			require.Greater(t, next, offset)
			require.Contains(t, got.Result["note"], "go on with offset")
			offset = next.(float64)
		}
		var want strings.Builder
		for line := range strings.Lines(string(v.Text)) {
			if len(line) > room {
				end := room
				for !utf8.RuneStart(line[end]) {
					end--
				}
				line = line[:end]
			}
			want.WriteString(line)
		}
		require.Equal(t, want.String(), shown.String())
	})
}

// Any change that is made can be taken back, in the reverse order.
func TestUndoProperty(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	rapid.Check(t, func(t *rapid.T) {
		require.NoError(t, os.RemoveAll(w.root))
		require.NoError(t, os.Mkdir(w.root, 0o755))
		states := []map[string]string{w.contents()}
		var paths []string
		for n := range rapid.IntRange(1, 8).Draw(t, "changes") {
			content := fmt.Sprint("change ", n, "\n") // else some change nothing
			path := rapid.SampledFrom([]string{"a", "b", "d/c"}).Draw(t, "path")
			other := rapid.SampledFrom([]string{"a", "b", "e"}).Draw(t, "other")
			var got *sdktest.Result
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				got = w.Call(t.Context(), "write_file", args{"path": path, "content": content})
			case 1:
				got = w.Call(t.Context(), "delete", args{"path": path})
			case 2:
				got = w.Call(t.Context(), "move", args{"source": path, "destination": other, "overwrite": true})
				path = other
			case 3:
				got = w.Call(t.Context(), "copy", args{"source": path, "destination": other, "overwrite": true})
				path = other
			case 4:
				got = w.Call(t.Context(), "apply_edits", args{"files": []any{args{"path": path, "content": content}}})
			}
			if now := w.contents(); got.Err == nil {
				states, paths = append(states, now), append(paths, path)
			} else {
				require.Equal(t, states[len(states)-1], now, "an error changes nothing")
			}
		}
		for i := len(paths) - 1; i >= 0; i-- {
			got := w.Call(t.Context(), "undo", args{"path": paths[i]})
			require.Nil(t, got.Err, "%v", got.Err)
			require.Equal(t, states[i], w.contents())
		}
	})
}
