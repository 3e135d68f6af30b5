package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditFile(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct {
		name, before string
		args         args
		after        string
		replacements float64
	}{
		{"one", "a b c\n", args{"old_string": "b", "new_string": "x"}, "a x c\n", 1},
		{"CR LF", "alpha\r\nbeta\r\ngamma\r\n", args{"old_string": "alpha\nbeta", "new_string": "ALPHA\nBETA"}, "ALPHA\r\nBETA\r\ngamma\r\n", 1},                       // FO-16
		{"mark", "\xef\xbb\xbfhello\nworld\n", args{"old_string": "world", "new_string": "earth"}, "\xef\xbb\xbfhello\nearth\n", 1},                                    // FO-17
		{"stray byte", "brand=Acme\x99\nport=80\n", args{"old_string": "port=80", "new_string": "port=81"}, "brand=Acme\x99\nport=81\n", 1},                            // FO-18
		{"literal", "price: PLACE\n", args{"old_string": "PLACE", "new_string": "$$100 and $1"}, "price: $$100 and $1\n", 1},                                           // FO-19
		{"all", "debug=1\nx\ndebug=1\n", args{"old_string": "debug=1", "new_string": "debug=0", "replace_all": true}, "debug=0\nx\ndebug=0\n", 2},                      // FO-20
		{"several", "x = old\n", args{"edits": []any{args{"old_string": "old", "new_string": "mid"}, args{"old_string": "mid", "new_string": "new"}}}, "x = new\n", 2}, // FO-22
		{"UTF-16", "\xff\xfeh\x00i\x00\n\x00", args{"old_string": "hi", "new_string": "ho"}, "\xff\xfeh\x00o\x00\n\x00", 1},
		{"delete", "a b", args{"old_string": " b", "new_string": ""}, "a", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.put("root/f", tt.before)
			read := w.must("read_file", args{"path": "f"})
			tt.args["path"] = "f"
			got := w.must("edit_file", tt.args)
			require.Equal(t, tt.after, w.bytes("root/f"))
			require.Equal(t, tt.replacements, got["replacements"])
			require.Equal(t, read["sha256"], got["sha256_before"])
			require.Equal(t, sum([]byte(tt.after)), got["sha256_after"])
			require.Contains(t, got["diff"], "@@")
		})
	}
}

func TestEditFileRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/conf", "dev:\n  debug=1\nprod:\n  debug=1\n")
	w.put("root/m", "a = 1\nb = 2\n")
	w.put("root/nul", "a\x00b")
	w.put("root/dir/x", "")
	w.put("out.txt", "world")
	w.link("../out.txt", "root/leak")
	w.must("read_file", args{"path": "conf"})
	w.must("read_file", args{"path": "m"})
	two := []any{args{"old_string": "a = 1", "new_string": "a = 10"}, args{"old_string": "b  = 2", "new_string": "y"}}
	for _, tt := range []struct {
		name string
		args args
		want any
		says []string
	}{
		{"ambiguous", args{"path": "conf", "old_string": "  debug=1", "new_string": "x"}, invalid, []string{"2 times", "lines 2, 4"}}, // FO-20
		{"half", args{"path": "m", "edits": two}, notFound, []string{"edit 2 of 2", "line 2", "b = 2"}},                               // FO-21
		{"nothing like it", args{"path": "m", "old_string": "zzz", "new_string": "y"}, notFound, []string{"nothing in the file is like it"}},
		{"no edits", args{"path": "m"}, invalid, []string{"old_string"}},
		{"half an edit", args{"path": "m", "old_string": "a"}, invalid, []string{"new_string"}},
		{"both ways", args{"path": "m", "old_string": "a", "new_string": "b", "edits": two}, invalid, []string{"edits"}},
		{"both ways, for all", args{"path": "m", "replace_all": true, "edits": two}, invalid, []string{"replace_all"}},
		{"empty text, no file", args{"path": "new", "old_string": "", "new_string": "b"}, notFound, []string{"write_file"}},
		{"empty text", args{"path": "m", "old_string": "", "new_string": "b"}, invalid, []string{"old_string is empty", "write_file"}},
		{"same text", args{"path": "m", "old_string": "a", "new_string": "a"}, invalid, []string{"nothing to change"}},
		{"missing file", args{"path": "mm", "old_string": "a", "new_string": "b"}, notFound, []string{"did you mean m?"}},
		{"binary", args{"path": "nul", "old_string": "a", "new_string": "b"}, invalid, []string{"binary"}},
		{"directory", args{"path": "dir", "old_string": "a", "new_string": "b"}, invalid, []string{"is a directory"}}, // FO-30
		{"link out", args{"path": "leak", "old_string": "world", "new_string": "b"}, denied, []string{"outside"}},
		{"other hash", args{"path": "m", "old_string": "a", "new_string": "b", "expected_sha256": "00"}, conflicts, []string{"has changed"}},
		{"malformed edit", args{"path": "m", "edits": []any{args{"old_string": "a"}}}, invalid, []string{"new_string"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := w.tree()
			got := w.Call(t.Context(), "edit_file", tt.args)
			require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
			for _, words := range tt.says {
				require.Contains(t, got.Err.GetMessage(), words)
			}
			require.Equal(t, before, w.tree())
		})
	}
}

func TestEditFileAfterAChange(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "one\ntwo\n")
	e := w.refused("edit_file", args{"path": "f", "old_string": "one", "new_string": "1"}, failed)
	require.Contains(t, e.GetMessage(), "has not read it")
	w.must("read_file", args{"path": "f"})

	w.put("root/f", "one\ntwo\nthree\n")
	got := w.must("edit_file", args{"path": "f", "old_string": "one", "new_string": "1"})
	require.Equal(t, "1\ntwo\nthree\n", w.bytes("root/f"), "what another wrote stays")
	require.Contains(t, got["note"], "had changed")

	for name, edit := range map[string]args{
		"gone":      {"path": "f", "old_string": "1", "new_string": "2"},
		"ambiguous": {"path": "f", "old_string": "o", "new_string": "0"},
		"all":       {"path": "f", "old_string": "two", "new_string": "2", "replace_all": true},
	} {
		w.put("root/f", "zero\ntwo\n"+name)
		e = w.refused("edit_file", edit, failed)
		require.Contains(t, e.GetMessage(), "changed since")
	}
}

// FO-24
func TestEditFileThroughLink(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/real.md", "world\n")
	w.link("real.md", "root/link.md")
	w.must("read_file", args{"path": "real.md"})
	w.must("edit_file", args{"path": "link.md", "old_string": "world", "new_string": "there"})
	require.Equal(t, "there\n", w.bytes("root/real.md"))
	target, err := os.Readlink(w.root + "/link.md")
	require.NoError(t, err)
	require.Equal(t, "real.md", target)
}

// FO-27: by two spellings at that.
func TestParallelEditsLoseNone(t *testing.T) {
	w := newWorld(t, nil)
	w.link("n.txt", "root/alias")
	var lines []string
	for i := range 100 {
		lines = append(lines, strconv.Itoa(i+1))
	}
	seq := strings.Join(lines, "\n") + "\n"
	for range 100 {
		w.put("root/n.txt", seq)
		w.must("read_file", args{"path": "n.txt"})
		var wg sync.WaitGroup
		for path, edit := range map[string][2]string{
			"n.txt": {"\n50\n", "\nFIFTY\n"}, "alias": {"\n75\n", "\nSEVENTYFIVE\n"},
			"./n.txt": {"\n20\n", "\nTWENTY\n"}, w.root + "/alias": {"\n90\n", "\nNINETY\n"},
		} {
			wg.Go(func() {
				got := w.Call(t.Context(), "edit_file", args{"path": path, "old_string": edit[0], "new_string": edit[1]})
				if got.Err != nil {
					t.Error(got.Err)
				}
			})
		}
		wg.Wait()
		want := strings.NewReplacer("\n50\n", "\nFIFTY\n", "\n75\n", "\nSEVENTYFIVE\n", "\n20\n", "\nTWENTY\n", "\n90\n", "\nNINETY\n").Replace(seq)
		require.Equal(t, want, w.bytes("root/n.txt"))
	}
}

func TestEditFileSaysWhenNothingChanged(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "a\r\nb\r\n")
	w.must("read_file", args{"path": "f"})
	got := w.must("edit_file", args{"path": "f", "old_string": "\r\n", "new_string": "\n", "replace_all": true})
	require.Equal(t, "a\r\nb\r\n", w.bytes("root/f"))
	require.Contains(t, got["note"], "Nothing changed")
}
