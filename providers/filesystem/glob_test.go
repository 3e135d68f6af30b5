package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func globbed(result map[string]any) []string {
	found := []string{}
	for _, p := range result["paths"].([]any) {
		found = append(found, p.(string))
	}
	return found
}

func TestGlob(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/d.ts", ".github/workflows/ci.yml", "app/[locale]/(auth)/page.tsx", "app/l/page.tsx", ".env", "src/.env", "a\nb.txt"} {
		w.put("root/"+name, "")
	}
	w.put("out.go", "SECRET")
	w.link("a.go", "root/near.go")
	w.link("../out.go", "root/away.go")
	w.link("nowhere", "root/dangling.go")
	w.link("..", "root/src/up")
	for _, tt := range []struct {
		name          string
		pattern, path string
		want          []string
	}{
		{"at any depth", "**/*.go", "", []string{"a.go", "near.go", "src/b.go", "src/deep/c.go"}},
		{"one level", "*.go", "", []string{"a.go", "near.go"}},
		{"in a directory", "*.go", "src", []string{"src/b.go"}},
		{"in a directory of the pattern", "src/*.{go,ts}", "", []string{"src/b.go", "src/d.ts"}},
		{"with dots and slashes", "./src//deep/*", "./", []string{"src/deep/c.go"}},
		{"absolute path", "*.ts", w.root + "/src", []string{w.root + "/src/d.ts"}},
		{"absolute pattern", w.root + "/src/**/c.*", "", []string{w.root + "/src/deep/c.go"}},
		{"below a hidden directory", ".github/workflows/*.yml", "", []string{".github/workflows/ci.yml"}},              // FO-35
		{"hidden at any depth", "**/*.yml", "", []string{".github/workflows/ci.yml"}},                                  // FO-35
		{"path with brackets", "**/*.tsx", "app/[locale]", []string{"app/[locale]/(auth)/page.tsx"}},                   // FO-39
		{"pattern with brackets in a name", "app/[locale]/(auth)/*.tsx", "", []string{"app/[locale]/(auth)/page.tsx"}}, // FO-39
		{"pattern with a class", "app/[l]/*.tsx", "", []string{"app/l/page.tsx"}},
		{"newline in a name", "*.txt", "", []string{"a\nb.txt"}}, // FO-42
		{"what is denied", "**/.env", "", []string{}},
		{"through a link to a directory", "src/up/a.go", "", []string{"src/up/a.go"}},
		{"nothing", "**/*.none", "", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := args{"pattern": tt.pattern}
			if tt.path != "" {
				a["path"] = tt.path
			}
			got := w.must("glob", a)
			require.ElementsMatch(t, tt.want, globbed(got))
			require.EqualValues(t, len(tt.want), got["total"])
			require.Equal(t, true, got["complete"])
			for _, path := range globbed(got) {
				w.must("read_file", args{"path": path})
			}
		})
	}
}

func TestGlobNewestFirst(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 30 {
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		w.put("root/"+name, "")
		at := time.Unix(1e9+int64(i*17%30), int64(i))
		require.NoError(t, os.Chtimes(w.root+"/"+name, at, at))
	}
	all := w.must("glob", args{"pattern": "**"})
	require.Len(t, globbed(all), 30)
	var before time.Time
	for i, name := range globbed(all) {
		info, err := os.Stat(w.root + "/" + name)
		require.NoError(t, err)
		require.True(t, i == 0 || info.ModTime().Before(before), name)
		before = info.ModTime()
	}
	got := w.must("glob", args{"pattern": "**", "limit": 5})
	require.Equal(t, globbed(all)[:5], globbed(got))
	require.EqualValues(t, 30, got["total"])
	require.Equal(t, false, got["complete"])
	require.Contains(t, got["note"], "newest 5 of 30")
}

// FO-33, FO-34
func TestGlobLeavesOutWhatGitIgnores(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/src/a.js", "")
	w.put("root/src/gen.js", "")
	w.put("root/node_modules/p/1.js", "")
	w.put("root/.git/hook.js", "")
	w.put("root/.gitignore", "node_modules/\ngen.js\n")
	got := w.must("glob", args{"pattern": "**/*.js"})
	require.Equal(t, []string{"src/a.js"}, globbed(got))
	require.Equal(t, args{"ignored_files": 1., "ignored_directories": 1.}, got["left_out"])
	all := w.must("glob", args{"pattern": "**/*.js", "include_ignored": true})
	require.ElementsMatch(t, []string{"src/a.js", "src/gen.js", "node_modules/p/1.js"}, globbed(all))

	require.Equal(t, []string{"node_modules/p/1.js"}, globbed(w.must("glob", args{"pattern": "node_modules/p/1.js"})))
	require.Equal(t, []string{"node_modules/p/1.js"}, globbed(w.must("glob", args{"pattern": "*.js", "path": "node_modules/p"})))
	require.Equal(t, []string{"src/gen.js"}, globbed(w.must("glob", args{"pattern": "src/gen.js"})))
	require.Equal(t, []string{".git/hook.js"}, globbed(w.must("glob", args{"pattern": ".git/*.js"})))
	none := w.must("glob", args{"pattern": "**/[1-9].js"})
	require.Empty(t, globbed(none))
	require.Contains(t, none["note"], "ignored by git's rules: 0 files, 1 directory; set include_ignored")

	free := newWorld(t, args{"respect_gitignore": false})
	free.put("root/node_modules/p/1.js", "")
	free.put("root/.gitignore", "node_modules/\n")
	require.Equal(t, []string{"node_modules/p/1.js"}, globbed(free.must("glob", args{"pattern": "**/*.js"})))
}

func TestGlobRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/f", "")
	w.put("sibling.txt", "SECRET")
	for _, tt := range []struct {
		args args
		want any
		says string
	}{
		{args{"pattern": "../*"}, denied, "outside"}, // FO-04
		{args{"pattern": w.base + "/*"}, denied, "outside"},
		{args{"pattern": "*", "path": ".."}, denied, "outside"},
		{args{"pattern": "*/../../*"}, invalid, "cannot follow a wildcard, at character 3"},
		{args{"pattern": "a/[b"}, invalid, "not closed"},
		{args{"pattern": ""}, invalid, "empty"},
		{args{"pattern": "*", "path": "none"}, notFound, "does not exist"},
		{args{"pattern": "*", "path": "f"}, invalid, "not a directory"},
	} {
		got := w.refused("glob", tt.args, tt.want.(category))
		require.Contains(t, got.GetMessage(), tt.says, tt.args)
		require.NotContains(t, got.GetMessage(), "sibling")
	}
	w.put("root/src/f", "")
	missing := w.must("glob", args{"pattern": "srcs/*.go"})
	require.Empty(t, missing["paths"])
	require.Contains(t, missing["note"], "did you mean src?")
}

// FO-40
func TestSearchesEndInACycleOfLinks(t *testing.T) {
	w := newWorld(t, nil)
	w.put("root/a/f", "needle\n")
	require.NoError(t, os.Mkdir(w.root+"/a/b", 0o755))
	w.link("..", "root/a/b/up")
	require.Equal(t, []string{"a/f"}, globbed(w.must("glob", args{"pattern": "**/*"})))
	require.Equal(t, []string{"a/f"}, grepped(w.must("grep", args{"pattern": "needle"})))
}

// Long paths in large numbers must not outgrow a message.
func TestGlobFitsIntoAMessage(t *testing.T) {
	w := newWorld(t, nil)
	dir := strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 250)+"/", 6), "/")
	for i := range 3000 {
		w.put(fmt.Sprintf("root/%s/%d", dir, i), "")
	}
	got := w.must("glob", args{"pattern": "**", "limit": 10000})
	require.EqualValues(t, 3000, got["total"])
	require.Equal(t, false, got["complete"])
	require.Greater(t, len(globbed(got)), 1500)
}
