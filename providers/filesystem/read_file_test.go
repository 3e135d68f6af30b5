package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	w := newWorld(t, args{"max_result_bytes": 256})
	three := "a\nb\nc\n"
	long := strings.Repeat("é", 200) + "\nnext\n"
	for _, tt := range []struct {
		name, content string
		args          args
		want          map[string]any
	}{
		{"whole", three, args{}, args{"content": three, "start_line": 1., "end_line": 3., "total_lines": 3., "truncated": false, "size": 6., "encoding": "utf-8", "line_ending": "lf"}},
		{"some lines", three, args{"offset": 2, "limit": 1}, args{"content": "b\n", "start_line": 2., "end_line": 2., "total_lines": 3., "truncated": true, "next_offset": 3., "note": "Lines 2-2 of 3; go on with offset 3."}},
		{"the last line", three, args{"offset": 3, "limit": 1}, args{"content": "c\n", "truncated": false}},
		{"past the end", three, args{"offset": 1200, "limit": 200}, args{"content": "", "total_lines": 3., "truncated": false, "note": "The file has 3 lines; offset 1200 is past its end."}}, // FO-15
		{"empty", "", args{}, args{"content": "", "total_lines": 0., "size": 0., "truncated": false, "note": "The file is empty.", "line_ending": "none"}},                                    // FO-15
		{"no newline at the end", "a\nb", args{}, args{"content": "a\nb", "total_lines": 2.}},
		{"CR LF", "a\r\nb\r\n", args{}, args{"content": "a\nb\n", "line_ending": "crlf"}},
		{"mark", "\xef\xbb\xbfa\n", args{}, args{"content": "a\n", "encoding": "utf-8-bom"}},
		{"UTF-16", "\xff\xfeh\x00i\x00\n\x00", args{}, args{"content": "hi\n", "encoding": "utf-16le", "total_lines": 1.}}, // FO-14
		{"legacy", "Acme\x99\n", args{}, args{"content": "Acme™\n", "encoding": "windows-1252"}},
		{"clipped at a line end", strings.Repeat("0123456789\n", 100), args{}, args{"content": strings.Repeat("0123456789\n", 23), "truncated": true, "next_offset": 24., "total_lines": 100.}},
		{"clipped inside a line", long, args{}, args{"content": strings.Repeat("é", 128), "truncated": true, "next_offset": 2., "end_line": 1.}},
		{"after the clipped line", long, args{"offset": 2}, args{"content": "next\n", "truncated": false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.put("root/f.txt", tt.content)
			tt.args["path"] = "f.txt"
			got := w.must("read_file", tt.args)
			for key, want := range tt.want {
				require.Equal(t, want, got[key], key)
			}
			digest := sha256.Sum256([]byte(tt.content))
			require.Equal(t, hex.EncodeToString(digest[:]), got["sha256"])
			require.Equal(t, tt.content, w.bytes("root/f.txt"), "reading changes nothing")
		})
	}
}

// Of a file that can be edited any part comes with what an edit needs to know.
// A larger one is not read further than the part goes, and can be written over
// after that all the same.
func TestReadPartOfFile(t *testing.T) {
	w := newWorld(t, nil)
	lines := editLimit / 16
	editable := strings.Repeat("fifteen letters\n", lines)
	w.put("root/editable", editable)
	w.put("root/larger", editable+"last\n")
	digest := sha256.Sum256([]byte(editable))
	whole := args{"sha256": hex.EncodeToString(digest[:]), "total_lines": float64(lines)}
	for _, tt := range []struct {
		name, path string
		offset     int
		want       args // nil: it is absent
	}{
		{"first of a file that can be edited", "editable", 1, whole},
		{"last of it", "editable", lines, whole},
		{"first of a larger one", "larger", 1, args{"sha256": nil, "total_lines": nil, "truncated": true, "next_offset": 2., "note": "Lines 1-1 of more; go on with offset 2."}},
		{"last of it", "larger", lines + 1, args{"sha256": nil, "total_lines": float64(lines + 1), "truncated": false, "content": "last\n"}},
		{"past its end", "larger", lines + 2, args{"sha256": nil, "total_lines": float64(lines + 1), "truncated": false, "content": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := w.must("read_file", args{"path": tt.path, "offset": tt.offset, "limit": 1})
			for field, want := range tt.want {
				require.Equal(t, want, got[field], field)
			}
		})
	}
	w.put("root/larger", editable+"more\n")
	require.NoError(t, os.Chtimes(w.root+"/larger", time.Time{}, time.Now().Add(time.Hour)))
	got := w.Call(t.Context(), "write_file", args{"path": "larger", "content": "new\n"})
	require.NotNil(t, got.Err, "it has changed since it was read")
	w.must("read_file", args{"path": "larger", "limit": 1})
	w.must("write_file", args{"path": "larger", "content": "new\n"})
}

func TestReadFileRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f.txt", "a\n")
	w.put("root/x.bin", "PK\x03\x04\x00\x00"+strings.Repeat("\x8f\x01", 2000))
	w.put("root/nul", "text\n\x00\x00")
	w.put("root/README.md", "")
	w.put("root/dir/file", "")
	for _, tt := range []struct {
		name string
		args args
		want any
		says []string
	}{
		{"negative offset", args{"path": "f.txt", "offset": -1}, invalid, []string{"offset"}}, // FO-15
		{"fraction", args{"path": "f.txt", "offset": 1.5}, invalid, []string{"offset"}},
		{"no limit", args{"path": "f.txt", "limit": 0}, invalid, []string{"limit"}},
		{"no path", args{}, invalid, []string{"path"}},
		{"empty path", args{"path": ""}, invalid, []string{"path", "empty"}},
		{"NUL in the path", args{"path": "a\x00b"}, invalid, []string{"NUL"}},
		{"endless path", args{"path": strings.Repeat("x", 300)}, invalid, []string{"name too long"}},
		{"binary", args{"path": "x.bin"}, invalid, []string{"application/zip", "4006 bytes"}}, // FO-13
		{"binary without a known kind", args{"path": "nul"}, invalid, []string{"octet-stream"}},
		{"directory", args{"path": "dir"}, invalid, []string{"is a directory", "list_directory"}}, // FO-30
		{"below a file", args{"path": "f.txt/x"}, invalid, []string{"is a file"}},
		{"missing", args{"path": "zzzz"}, notFound, []string{"does not exist", "list ."}},
		{"misspelt", args{"path": "readme.md"}, notFound, []string{"did you mean README.md?"}},
		{"misspelt directory", args{"path": "dirr/file"}, notFound, []string{"dirr does not exist", "did you mean dir?"}},
		{"missing directory", args{"path": "q/r/s"}, notFound, []string{"the directory q does not exist"}},
		{"outside", args{"path": "../f"}, denied, []string{"outside the allowed roots", w.root}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := w.Call(t.Context(), "read_file", tt.args)
			require.Nil(t, got.Result)
			require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
			for _, words := range tt.says {
				require.Contains(t, got.Err.GetMessage(), words)
			}
		})
	}
}

// FO-10: neither where the provider runs nor a directory outside counts, and no
// message speaks of them.
func TestRelativePathsNeverMeanTheProcess(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/p/f", "hi\n")
	process, err := os.Getwd()
	require.NoError(t, err)
	for dir, path := range map[string]string{"/": "p/f", process: "p/f", w.root: "p/f", w.root + "/p": "f", "": "p/f"} {
		got := w.CallIn(t.Context(), dir, "read_file", args{"path": path})
		require.Equal(t, "hi\n", got.Result["content"], dir)
	}
	got := w.CallIn(t.Context(), process, "read_file", args{"path": "provider.go"})
	require.Equal(t, notFound, got.Err.GetCategory())
	require.NotContains(t, got.Err.GetMessage(), process)
}

// FO-42: a name with a newline is one name, and works in a call.
func TestReadOddNames(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"a\nb.txt", "app/[locale]/(auth)/page.tsx", " ", "-v", "é.txt"} { // FO-39
		w.put("root/"+name, "hi\n")
		require.Equal(t, "hi\n", w.must("read_file", args{"path": name})["content"])
	}
}

// FO-41: a name in another composition is suggested, and works.
func TestReadSuggestsOtherComposition(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/e\u0301.txt", "hi\n")
	got := w.Call(t.Context(), "read_file", args{"path": "\u00e9.txt"})
	require.Equal(t, notFound, got.Err.GetCategory())
	like := got.Err.GetDetails().AsMap()["suggestion"].(string)
	require.Equal(t, "hi\n", w.must("read_file", args{"path": like})["content"])
}

// A path is a few bytes to send; following it must not be the work of minutes.
func TestReadLongMissingPaths(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/dir/f", "")
	w.link("dir", "root/link")
	for _, tt := range []struct {
		name, path string
		want       any
	}{
		{"missing", "none/" + strings.Repeat("a/", 1800) + "f", notFound},
		{"missing behind a link", "link/" + strings.Repeat("a/", 1800) + "f", notFound},
		{"longer than any path", "none/" + strings.Repeat("a/", 1<<20) + "f", invalid},
		{"outside and longer", "/" + strings.Repeat("x", 1<<20), invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := w.Call(t.Context(), "read_file", args{"path": tt.path})
			require.Equal(t, tt.want, got.Err.GetCategory(), got.Err.GetMessage())
			require.Less(t, len(got.Err.GetMessage()), 16<<10)
		})
	}
}

func TestReadNamesTheFirstMissingDirectory(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a/b/f", "")
	for path, gone := range map[string]string{"a/b/x/y/z": "a/b/x", "a/x/y": "a/x", "./missing/r/s": "missing"} {
		got := w.Call(t.Context(), "read_file", args{"path": path})
		require.Equal(t, notFound, got.Err.GetCategory())
		require.Contains(t, got.Err.GetMessage(), "the directory "+gone+" does not exist")
	}
}
