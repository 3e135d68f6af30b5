package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func entryNames(result map[string]any) []string {
	names := []string{}
	for _, e := range result["entries"].([]any) {
		names = append(names, e.(map[string]any)["path"].(string))
	}
	return names
}

func TestListDirectory(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/z", "123")
	w.put("root/a/b/c", "")
	w.put("root/a/x", "")
	w.put("root/.env", "SECRET")
	w.put("root/.github/ci.yml", "") // FO-35
	w.link("nowhere", "root/m")      // FO-08
	w.link("..", "root/a/up")        // FO-40
	require.NoError(t, os.Chmod(w.root+"/z", 0o640))
	require.NoError(t, os.Chtimes(w.root+"/z", time.Time{}, time.Unix(1e9, 0)))
	for _, tt := range []struct {
		name string
		args args
		want []string
	}{
		{"one level", args{"path": "."}, []string{".github", "a", "m", "z"}},
		{"by default", args{}, []string{".github", "a", "m", "z"}},
		{"two levels", args{"depth": 2}, []string{".github", "a", "m", "z", ".github/ci.yml", "a/b", "a/up", "a/x"}},
		{"to the bottom", args{"path": "a", "depth": 99}, []string{"a/b", "a/up", "a/x", "a/b/c"}},
		{"absolute", args{"path": w.root + "/a/b"}, []string{w.root + "/a/b/c"}},
		{"through a link", args{"path": "a/up/a/b"}, []string{"a/up/a/b/c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := w.must("list_directory", tt.args)
			require.Equal(t, tt.want, entryNames(got))
			require.Equal(t, false, got["truncated"])
		})
	}
	entries := w.must("list_directory", args{})["entries"].([]any)
	z := entries[3].(map[string]any)
	require.Equal(t, args{"name": "z", "path": "z", "type": "file", "size": 3., "mode": "0640", "modified": "2001-09-09T01:46:40Z"}, z)
	m := entries[2].(map[string]any)
	require.Equal(t, "link", m["type"])
	require.Equal(t, "nowhere", m["link_target"])
}

// A listing says once where everything in it is, and what is there as seen from there.
func TestListShown(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a/b/c", "")
	w.put("root/a/x", "")
	w.link("b/c", "root/a/to")
	for _, tt := range []struct {
		name, path string
		depth      int
		want       []string
	}{
		{"the working directory", ".", 2, []string{"a", "a/b", "a/to -> b/c", "a/x"}},
		{"a directory", "a", 2, []string{"b", "to -> b/c", "x", "b/c"}},
		{"with a slash", "a/", 1, []string{"b", "to -> b/c", "x"}},
		{"from here", "./a", 1, []string{"b", "to -> b/c", "x"}},
		{"absolute", w.root + "/a", 2, []string{"b", "to -> b/c", "x", "b/c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := w.Render(t.Context(), w.must("list_directory", args{"path": tt.path, "depth": tt.depth}))
			require.NoError(t, err)
			nodes := tree.GetRoot().GetGroup().GetChildren()
			require.Equal(t, tt.path, nodes[0].GetText().GetContent())
			var names []string
			for _, row := range nodes[1].GetTable().GetRows() {
				names = append(names, row.GetCells()[0])
			}
			require.Equal(t, tt.want, names)
		})
	}
}

// FO-05
func TestListThroughLinkToTheRoot(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f.txt", "hi\n")
	require.NoError(t, os.Mkdir(w.root+"/dir", 0o755))
	w.link("..", "root/dir/up")
	require.Equal(t, []string{"dir/up/dir", "dir/up/f.txt"}, entryNames(w.must("list_directory", args{"path": "dir/up"})))
	require.Equal(t, "hi\n", w.must("read_file", args{"path": "dir/up/f.txt"})["content"])
}

func TestListDirectoryLimit(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 5 {
		w.put(fmt.Sprintf("root/big/%d", i), "")
		w.put(fmt.Sprintf("root/d%d/x", i), "")
	}
	got := w.must("list_directory", args{"limit": 3})
	require.Equal(t, []string{"big", "d0", "d1"}, entryNames(got))
	require.Equal(t, true, got["truncated"])
	require.Contains(t, got["note"], "3 more were left out")

	got = w.must("list_directory", args{"limit": 8, "depth": 2})
	require.Equal(t, []string{"big", "d0", "d1", "d2", "d3", "d4", "big/0", "big/1"}, entryNames(got))
	require.Contains(t, got["note"], "3 more were left out")
	require.Contains(t, got["note"], "5 directories were not looked into")
}

func TestListDirectoryRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "")
	w.put("sibling.txt", "")
	w.put("root-evil/s.txt", "SECRET")
	for _, tt := range []struct {
		path string
		want any
		says string
	}{
		{"f", invalid, "not a directory"},
		{"none", notFound, "does not exist"},
		{"../", denied, "outside"},                 // FO-04
		{"./x/../../", denied, "outside"},          // FO-04
		{w.base + "/root-evil", denied, "outside"}, // FO-01
	} {
		got := w.Call(t.Context(), "list_directory", args{"path": tt.path})
		require.Equal(t, tt.want, got.Err.GetCategory(), tt.path)
		require.Contains(t, got.Err.GetMessage(), tt.says)
		require.NotContains(t, got.Err.GetMessage(), "sibling")
	}
}

func TestListEmptyDirectory(t *testing.T) {
	w := newWorld(t, nil)
	got := w.must("list_directory", args{})
	require.Empty(t, got["entries"])
	require.Equal(t, "The directory is empty.", got["note"])
}

// FO-42
func TestListOddNames(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a\nb.txt", "needle")
	names := entryNames(w.must("list_directory", args{}))
	require.Equal(t, []string{"a\nb.txt"}, names)
	require.Equal(t, "needle", w.must("read_file", args{"path": names[0]})["content"])
}

// Long names in large numbers must not outgrow a message.
func TestListDirectoryFitsIntoAMessage(t *testing.T) {
	w := newWorld(t, nil)
	var dir string // every path below is long, so that fewer files will do
	for range 3 {
		dir = filepath.Join(dir, strings.Repeat("d", 250))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, dir), 0o755))
	const files = 4000
	for i := range files {
		w.put(filepath.Join("root", dir, fmt.Sprint(i)), "")
	}
	got := w.must("list_directory", args{"path": dir, "limit": 10000})
	shown := len(got["entries"].([]any))
	require.Less(t, shown, files)
	require.Greater(t, shown, files/2)
	require.Equal(t, true, got["truncated"])
	require.Contains(t, got["note"], fmt.Sprintf("%d more were left out; list a directory further down: one result carries no more.", files-shown))
}

// What git ignores is shown, so that it can be named, and not looked into.
func TestListDirectoryDoesNotLookIntoWhatGitIgnores(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/node_modules/p/index.js", "")
	w.put("root/src/gen/a.go", "")
	w.put("root/src/.gitignore", "gen/\n")
	w.put("root/.git/config", "")
	w.put("root/.gitignore", "node_modules/\n")
	got := w.must("list_directory", args{"depth": 9})
	require.Equal(t, []string{".git", ".gitignore", "node_modules", "src", "src/.gitignore", "src/gen"}, entryNames(got))
	require.Contains(t, got["note"], "3 directories were not looked into, being .git or ignored by git")
	require.Equal(t, []string{"node_modules/p", "node_modules/p/index.js"}, entryNames(w.must("list_directory", args{"path": "node_modules", "depth": 9})))
	require.Equal(t, []string{".git/config"}, entryNames(w.must("list_directory", args{"path": ".git", "depth": 2})))
}

// More directories than are held open at once.
func TestListManyDirectories(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 2 * mostOpen {
		w.put(fmt.Sprintf("root/%03d/d/f", i), "")
	}
	got := w.must("list_directory", args{"depth": 3, "limit": 10000})
	require.Len(t, got["entries"], 6*mostOpen)
	require.Equal(t, false, got["truncated"])
}
