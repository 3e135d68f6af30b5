package glob

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func never(string) bool { return false }

func TestBase(t *testing.T) {
	exists := func(dir string) bool { return dir == "app/[locale]" || dir == "app/[locale]/(auth)" }
	for _, tt := range []struct {
		pattern, base, rest string
		literal             bool
	}{
		{"*.go", "", "*.go", false},
		{"a/b/*.go", "a/b", "*.go", false},
		{"a/b/c.go", "a/b", "c.go", true},
		{"./a//b/./*", "a/b", "*", false},
		{"a/b/", "a/b", "**", false},
		{"/x/*", "/x", "*", false},
		{"/*", "/", "*", false},
		{"../*", "..", "*", false},
		{"a/**/b/*", "a", "**/b/*", false},
		{"app/[locale]/(auth)/*.tsx", "app/[locale]/(auth)", "*.tsx", false}, // FO-39
		{"app/[other]/*.tsx", "app", "[other]/*.tsx", false},
	} {
		p, err := Parse(tt.pattern, exists)
		require.NoError(t, err, tt.pattern)
		require.Equal(t, []any{tt.base, tt.rest, tt.literal}, []any{p.Base, p.rest, p.Literal}, tt.pattern)
	}
}

func TestMatchAndEnter(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"**/*.go", "a.go", true},
		{"**/*.go", "x/y/a.go", true},
		{"**/*.go", ".hidden/.go", true},
		{"**/*.go", "x/a.got", false},
		{"*.go", "x/a.go", false},
		{"*.{ts,tsx}", "a.tsx", true},
		{"*.{ts,tsx}", "a.ts,tsx", false},
		{"**", "x/y", true},
		{"x/**", "x/y/z", true},
		{"*/b/*.go", "a/b/c.go", true},
		{"*/b/*.go", "a/c/c.go", false},
		{"**/test_*_x[0-9].py", "t/test_a_x3.py", true},
		{"{a,b/c}/*.go", "b/c/x.go", true},
		{`\[id\].tsx`, "[id].tsx", true},
		{"ä*/ö?", "äx/öü", true},
	} {
		p, err := Parse("*/"+tt.pattern, never) // so that nothing is taken for the base
		require.NoError(t, err)
		require.Equal(t, tt.want, found(p, "top/"+tt.path), "%s %s", tt.pattern, tt.path)
	}
}

// FO-39: brackets that are a part of the name.
func TestNameIsThePatternItself(t *testing.T) {
	p, err := Parse("app/[id].tsx", never)
	require.NoError(t, err)
	for _, name := range []string{"[id].tsx", "i.tsx", "d.tsx"} {
		require.True(t, p.Match("", name), name)
	}
	require.False(t, p.Match("", "x.tsx"))
}

// found reports whether a walk would enter every directory on the way and then
// take the file.
func found(p *Pattern, path string) bool {
	for i := range len(path) {
		if path[i] == '/' && !p.Enter(path[:i]) {
			return false
		}
	}
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	return p.Match(dir, name)
}

func TestErrorsPointAtTheCharacter(t *testing.T) {
	for pattern, column := range map[string]int{
		"": 1, "a[b": 2, "ä/[b": 3, "{a,b": 1, "a}": 2, `a\`: 2, "a\x00": 2, "*/../x": 3, "{a,{b}": 1, "[!]": 1, "[]": 1,
	} {
		_, err := Parse(pattern, never)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, pattern)
		require.Equal(t, column, syntax.Column, "%q: %v", pattern, err)
	}
}

// The short cuts change no answer.
func TestAgreesWithDoublestar(t *testing.T) {
	part := rapid.SampledFrom([]string{"*", "**", "a", "b", "*.go", "a*", "*b*", "?", "[ab]", "{a,b}", "*.{go,a}", "{a,b}.go", "x{a,*}", "[!a]", `\*`, ".go"})
	name := rapid.SampledFrom([]string{"a", "b", "c", "a.go", ".go", "b.a", "xa", "x", "*", "ab"})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "pattern"), "/")
		path := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path"), "/")
		p, err := Parse("*/"+pattern, never)
		require.NoError(t, err)
		want, err := doublestar.Match("*/"+pattern, "t/"+path)
		require.NoError(t, err)
		require.Equal(t, want, found(p, "t/"+path))
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"**/*.go", "a[", "{a,{b,c}}/d", `\`, "[[:x:]]", "../a", "/"} {
		f.Add(s, "a/b")
	}
	f.Fuzz(func(_ *testing.T, pattern, path string) {
		if p, err := Parse(pattern, never); err == nil {
			found(p, path)
		}
	})
}
