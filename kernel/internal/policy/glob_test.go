package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestGlobs(t *testing.T) {
	here := Place{Root: "/p", Dir: "/p"}
	sub := Place{Root: "/p", Dir: "/p/sub"}
	odd := Place{Root: "/p[x]/{a}", Dir: "/p[x]/{a}"}
	tests := []struct {
		name  string
		glob  string
		arg   string
		value any
		at    Place
		want  fit
	}{
		{"below", "docs/**", "path", "docs/a/b.md", here, certain},
		{"absolute", "docs/**", "path", "/p/docs/a", here, certain},
		{"dot", "docs/**", "path", "./docs/./a", here, certain},
		{"slashes", "docs/**", "path", "docs//a", here, certain},
		{"out and in", "docs/**", "path", "src/../docs/a", here, certain},
		{"hidden file", "docs/**", "path", "docs/.env", here, certain},
		{"glob with a dot", "./docs/**", "path", "docs/a", here, certain},
		{"in is out", "docs/**", "path", "docs/../secret", here, none},
		{"far out", "docs/**", "path", "docs/../../etc/passwd", here, none},
		{"the folder itself", "docs/**", "path", "docs", here, possible},
		{"the folder by a dot", "docs/**", "path", "docs/.", here, possible},
		{"upper case", "docs/**", "path", "DOCS/a", here, possible},
		{"decomposed", "docs/é/**", "path", "docs/e\u0301/a", here, possible},
		{"begins alike", "docs/**", "path", "docs2/a", here, none},
		{"elsewhere", "docs/**", "path", "src/a", here, none},
		{"outside", "docs/**", "path", "/docs/a", here, none},
		{"outside for everything", "**", "path", "../x", here, possible},
		{"the root for everything", "**", "path", ".", here, certain},
		{"empty", "docs/**", "path", "", here, none},
		{"NUL", "docs/**", "path", "docs/a\x00", here, possible},

		{"from a folder", "docs/**", "path", "../docs/a", sub, certain},
		{"from a folder, its own", "docs/**", "path", "docs/a", sub, none}, // it is sub/docs/a
		{"from a folder, absolute", "docs/**", "path", "/p/docs/a", sub, certain},
		{"from a folder, below it", "sub/*", "path", "x", sub, certain},
		{"a root with brackets", "docs/*", "path", "docs/a", odd, certain},

		{"absolute glob", "/tmp/*", "path", "/tmp/a", here, certain},
		{"absolute glob, relative value", "/p/a", "path", "a", here, certain},
		{"absolute glob, way out", "/tmp/*", "path", "/tmp/../etc", here, none},
		{"star stops", "*.md", "path", "a/b.md", here, none},
		{"star", "*.md", "path", "b.md", here, certain},
		{"either", "{a,b}/*", "path", "b/x", here, certain},
		{"any depth outside", "**/.ssh/**", "path", "/home/u/.ssh/id", here, possible},

		{"list, all", "docs/*", "paths", []any{"docs/a", "docs/b"}, here, certain},
		{"list, one not", "docs/*", "paths", []any{"docs/a", "x"}, here, possible},
		{"list, empty", "docs/*", "paths", []any{}, here, none},
		{"list, no text", "docs/*", "paths", []any{"docs/a", 1.0}, here, possible},
		{"number", "1", "path", 1.0, here, none},

		{"no path", "feature/*", "branch", "feature/a", here, certain},
		{"no path, absolute", "feature/*", "branch", "/p/feature/a", here, possible},
		{"no path, but dots", "feature/**", "branch", "feature/../main", here, possible},
		{"no path, dots the other way", `feature\\**`, "branch", `feature\..\main`, here, possible},
		{"no path, from a folder", "feature/*", "branch", "feature/a", sub, certain},
		{"address", "https://example.org/**", "url", "https://example.org/a/b", here, certain},
		{"named as a path is", "docs/*", "output-file", "docs/../x", here, none},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, err := ParseGlob(test.glob)
			require.NoError(t, err)
			args, err := structpb.NewStruct(map[string]any{test.arg: test.value})
			require.NoError(t, err)
			got, why := g.compare(test.arg, Call{Arguments: args, Place: test.at})
			require.Equal(t, test.want, got, why)
			require.Equal(t, got == certain, why == "")
		})
	}
}

func TestGlobOfMembers(t *testing.T) {
	args, err := structpb.NewStruct(map[string]any{"destination": "moved/x", "dirs": []any{"listed/x"}, "files": []any{map[string]any{"path": "docs/a"}, map[string]any{"path": "secret/b"}}})
	require.NoError(t, err)
	call := Call{Arguments: args, Place: Place{Root: "/p", Dir: "/p"}}
	for _, test := range []struct {
		glob, name string
		want       fit
	}{
		{"docs/**", "files.path", possible}, {"{docs,secret}/**", "files.path", certain}, {"secret/**", "path", possible},
		{"src/**", "path", none}, {"moved/**", "path", possible}, {"moved/**", "source", none}, {"moved/**", "destination", certain},
		{"listed/**", "path", possible}, {"listed/**", "dir", possible}, {"listed/**", "source", none}, {"docs/**", "files.name", none}, {"docs/**", "file.path", possible},
	} {
		g, err := ParseGlob(test.glob)
		require.NoError(t, err)
		got, _ := g.compare(test.name, call)
		require.Equal(t, test.want, got, test)
	}
}

func TestParseGlobRefuses(t *testing.T) {
	for glob, want := range map[string]string{"": "empty", "a[": "not closed", "{a": "not closed", "../x": `".."`, "docs/../x": `".."`} {
		_, err := ParseGlob(glob)
		require.ErrorContains(t, err, want)
	}
}
