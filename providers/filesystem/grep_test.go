package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

type category = toolv1.ToolErrorCategory

// grepped are the matches, as path, path:line:text or path:count.
func grepped(result map[string]any) []string {
	found := []string{}
	for _, v := range result["matches"].([]any) {
		m := v.(map[string]any)
		line := m["path"].(string)
		if n, ok := m["line"]; ok {
			line += fmt.Sprintf(":%v:%v", n, m["text"])
		}
		if n, ok := m["count"]; ok {
			line += fmt.Sprintf(":%v", n)
		}
		found = append(found, line)
	}
	return found
}

func TestGrepModes(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/b.go", "x\nneedle one\ny\nneedle two\n")
	w.put("root/a/c.txt", "needle\r\n")
	w.put("root/a/d.go", "nothing\n")
	w.put("out.txt", "needle SECRET\n")
	w.link("../out.txt", "root/leak") // FO-02
	w.put("root/.env", "needle SECRET")
	for _, tt := range []struct {
		name  string
		args  args
		want  []string
		total int
	}{
		{"files", args{}, []string{"b.go", "a/c.txt"}, 2},
		{"count", args{"mode": "count"}, []string{"b.go:2", "a/c.txt:1"}, 2},
		{"content", args{"mode": "content"}, []string{"b.go:2:needle one", "b.go:4:needle two", "a/c.txt:1:needle"}, 3},
		{"in a directory", args{"mode": "content", "path": "a"}, []string{"a/c.txt:1:needle"}, 1},
		{"in a file", args{"mode": "content", "path": "b.go"}, []string{"b.go:2:needle one", "b.go:4:needle two"}, 2},
		{"absolute", args{"path": w.root + "/a/"}, []string{w.root + "/a/c.txt"}, 1},
		{"by name", args{"glob": "*.go"}, []string{"b.go"}, 1},
		{"not by name", args{"glob": "!*.go"}, []string{"a/c.txt"}, 1},
		{"by path", args{"glob": "a/**/*.txt"}, []string{"a/c.txt"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.args["pattern"] = "needle"
			got := w.must("grep", tt.args)
			require.Equal(t, tt.want, grepped(got))
			require.EqualValues(t, tt.total, got["total"])
			require.Equal(t, true, got["complete"])
		})
	}
	got := w.must("grep", args{"pattern": "needle"})
	require.Equal(t, args{"denied": 1.}, got["left_out"])
	require.EqualValues(t, 3, got["searched"])
	none := w.must("grep", args{"pattern": "zzz"}) // FO-38
	require.Empty(t, none["matches"])
	require.Equal(t, "No match in 3 files.", none["note"])
}

func TestGrepOptions(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "run --release -v\nA.B\naxb\n")
	w.put("root/wide", "\xff\xfec\x00a\x00f\x00\xe9\x00\n\x00")
	w.put("root/old", "caf\xe9\n")
	for _, tt := range []struct {
		name string
		args args
		want []string
	}{
		{"dashes", args{"pattern": "--release"}, []string{"f:1:run --release -v"}}, // FO-37
		{"a dash", args{"pattern": "-v"}, []string{"f:1:run --release -v"}},        // FO-37
		{"expression", args{"pattern": "a.b"}, []string{"f:3:axb"}},
		{"literal", args{"pattern": "a.b", "literal": true, "ignore_case": true}, []string{"f:2:A.B"}},
		{"case", args{"pattern": "a.b", "ignore_case": true}, []string{"f:2:A.B", "f:3:axb"}},
		{"across lines", args{"pattern": `B\na`, "multiline": true}, []string{"f:2:A.B\naxb"}},
		{"encodings", args{"pattern": "café"}, []string{"old:1:café", "wide:1:café"}},
		{"nothing in a line", args{"pattern": "^$"}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.args["mode"] = "content"
			require.Equal(t, tt.want, grepped(w.must("grep", tt.args)))
		})
	}
}

func TestGrepContext(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "1\n2\nneedle 3\n4\n5\nneedle 6\n7\n8\n9\n")
	got := w.must("grep", args{"pattern": "needle", "mode": "content", "before": 2, "after": 2})["matches"]
	require.Equal(t, []any{
		args{"path": "f", "line": 3., "text": "needle 3", "before": []any{"1", "2"}, "after": []any{"4", "5"}},
		args{"path": "f", "line": 6., "text": "needle 6", "after": []any{"7", "8"}},
	}, got)
	shown, err := w.Render(t.Context(), w.must("grep", args{"pattern": "needle", "mode": "content", "before": 1, "after": 1}))
	require.NoError(t, err)
	require.Equal(t, "2-2\n3:needle 3\n4-4\n5-5\n6:needle 6\n7-7", shown.GetRoot().GetGroup().GetChildren()[1].GetCodeBlock().GetContent())
}

// Pages put together are the whole, in the same order, whatever their size.
func TestGrepPages(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 40 {
		w.put(fmt.Sprintf("root/d%d/f%d", i%7, i), strings.Repeat("needle\nx\n", i%5))
	}
	for _, mode := range []string{"files", "content", "count"} {
		whole := w.must("grep", args{"pattern": "needle", "mode": mode})
		require.Equal(t, true, whole["complete"])
		for _, limit := range []int{1, 7, 50} {
			var pages []string
			for offset := 0; ; {
				page := w.must("grep", args{"pattern": "needle", "mode": mode, "limit": limit, "offset": offset})
				pages = append(pages, grepped(page)...)
				require.Equal(t, whole["total"], page["total"])
				if page["complete"] == true {
					require.NotContains(t, page, "next_offset")
					break
				}
				require.Contains(t, page["note"], fmt.Sprintf("go on with offset %v", page["next_offset"]))
				offset = int(page["next_offset"].(float64))
			}
			require.Equal(t, grepped(whole), pages, "%s by %d", mode, limit)
		}
	}
	past := w.must("grep", args{"pattern": "needle", "offset": 9999})
	require.Empty(t, past["matches"])
	require.Contains(t, past["note"], "behind the last")
}

func TestGrepResultFits(t *testing.T) {
	w := newWorld(t, args{"max_result_bytes": 1000})
	w.put("root/f", strings.Repeat("needle "+strings.Repeat("x", 93)+"\n", 100))
	got := w.must("grep", args{"pattern": "needle", "mode": "content"})
	require.Len(t, got["matches"], 9)
	require.EqualValues(t, 9, got["next_offset"])
	require.EqualValues(t, 100, got["total"])
	got = w.must("grep", args{"pattern": "needle", "mode": "content", "offset": 95})
	require.Len(t, got["matches"], 5)
	require.Equal(t, true, got["complete"])
}

func TestGrepStreamsWhatItFinds(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 50 {
		w.put(fmt.Sprintf("root/d%d/f", i), "needle\n")
	}
	got := w.Call(t.Context(), "grep", args{"pattern": "needle", "mode": "content"})
	require.Nil(t, got.Err)
	var streamed []string
	for _, event := range got.Events {
		if p := event.GetPartialResult(); p != nil {
			streamed = append(streamed, grepped(p.GetPayload().AsMap())...)
		}
	}
	require.Equal(t, grepped(got.Result), streamed)
}

// FO-36
func TestGrepClipsALongLine(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/min.js", strings.Repeat("a", 600_000)+"needle"+strings.Repeat("b", 50_000)+"\n")
	matches := w.must("grep", args{"pattern": "needle", "mode": "content"})["matches"].([]any)
	require.Len(t, matches, 1)
	m := matches[0].(map[string]any)
	require.Equal(t, true, m["clipped"])
	require.LessOrEqual(t, len(m["text"].(string)), 2000)
	require.Contains(t, m["text"], "aneedleb")
	require.Equal(t, []string{"min.js"}, grepped(w.must("grep", args{"pattern": "needle"})))
}

// FO-43
func TestGrepPassesOverBinaryFiles(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/lib.so", "\x7fELF\x00\x01"+strings.Repeat("\x00\xff\xfe\x01", 1<<20)+"needle")
	w.put("root/a.txt", "needle\n")
	got := w.must("grep", args{"pattern": "needle", "mode": "content"})
	require.Equal(t, []string{"a.txt:1:needle"}, grepped(got))
	require.Equal(t, args{"binary": 1.}, got["left_out"])
	alone := w.must("grep", args{"pattern": "needle", "path": "lib.so"})
	require.Empty(t, alone["matches"])
	require.Contains(t, alone["note"], "1 file is no text")
}

// FO-33, FO-34
func TestGrepLeavesOutWhatGitIgnores(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/src/a.js", "needle\n")
	for i := range 50 {
		w.put(fmt.Sprintf("root/node_modules/p/%d.js", i), "needle\n")
	}
	w.put("root/.gitignore", "node_modules/\n")
	require.Equal(t, []string{"src/a.js"}, grepped(w.must("grep", args{"pattern": "needle"})))
	require.Len(t, w.must("grep", args{"pattern": "needle", "include_ignored": true})["matches"], 51)
	require.Len(t, w.must("grep", args{"pattern": "needle", "path": "node_modules/p"})["matches"], 50)
	require.Len(t, w.must("grep", args{"pattern": "needle", "path": "node_modules/p/1.js"})["matches"], 1)
}

func TestGrepRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "foo\n")
	w.put("root/.env", "SECRET")
	w.put("out/f", "SECRET")
	w.link("../out", "root/away")
	for _, tt := range []struct {
		args args
		want category
		says string
	}{
		{args{"pattern": "foo|bar("}, invalid, "missing closing ), at character 8"}, // FO-38
		{args{"pattern": "a(?=b)"}, invalid, "RE2"},
		{args{"pattern": ""}, invalid, "empty"},
		{args{"pattern": "a\nb"}, invalid, "set multiline"},
		{args{"pattern": "a", "glob": "{a"}, invalid, "not closed"},
		{args{"pattern": "a", "path": "non"}, notFound, "does not exist"},
		{args{"pattern": "a", "path": ".env"}, denied, "deny list"},
		{args{"pattern": "SECRET", "path": "away"}, denied, "outside"}, // FO-02
		{args{"pattern": "SECRET", "path": "../out"}, denied, "outside"},
		{args{"pattern": "a", "mode": "lines"}, invalid, "one of files, content, count"},
	} {
		got := w.refused("grep", tt.args, tt.want)
		require.Contains(t, got.GetMessage(), tt.says, tt.args)
	}
}

// FO-42
func TestGrepFindsAFileWithANewlineInItsName(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a\nb.txt", "needle\n")
	got := grepped(w.must("grep", args{"pattern": "needle"}))
	require.Equal(t, []string{"a\nb.txt"}, got)
	w.must("read_file", args{"path": got[0]})
}

// FO-44
func TestCancelledGrepEndsAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	slow := strings.Repeat("x", 60_000) // for the expression below
	for i := range 300 {
		w.put(fmt.Sprintf("root/d%d/f", i), slow)
	}
	w.put("root/a", "needle\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := w.Watch(ctx, w.root, "grep", args{"pattern": "x[x-z]*[0-9]|needle"}, func(e *toolv1.ToolEvent) {
		if e.GetPartialResult() != nil { // the first match: most is still to come
			cancel()
		}
	})
	require.Nil(t, got.Err)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, got.Report.GetCategory())
	says := regexp.MustCompile(`cancelled after (\d+) files?, in 1 file of which`).FindStringSubmatch(got.Report.GetMessage())
	require.Len(t, says, 2, got.Report.GetMessage())
	searched, err := strconv.Atoi(says[1])
	require.NoError(t, err)
	require.Less(t, searched, 150, "and most are left alone")
	w.must("read_file", args{"path": "a"})
}
