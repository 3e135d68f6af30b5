package ignore

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// repository makes what git takes for a repository, faster than git init.
func repository(t require.TestingT, dir, config string) {
	for _, name := range []string{"objects", "refs", "info"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", name), 0o755))
	}
	put(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	put(t, filepath.Join(dir, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n"+config)
}

func put(t require.TestingT, name, body string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(body), 0o644))
}

// git runs the real one as a user whose home is given.
func git(t require.TestingT, home, dir, input string, args ...string) []string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), errs.String()) // nothing is ignored
	}
	found := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
	slices.Sort(found)
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// ignored are the paths below dir that are ignored themselves or lie below one
// that is, found as a walk finds them.
func ignored(t require.TestingT, tree *Tree, dir string) (all, found []string) {
	found = []string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			all = append(all, rel)
		}
		return err
	}))
	var into func(at string, rules *Rules, hidden bool)
	into = func(at string, rules *Rules, hidden bool) {
		entries, err := os.ReadDir(at)
		require.NoError(t, err)
		body, _ := os.ReadFile(filepath.Join(at, ".gitignore"))
		if !hidden {
			rules = tree.Enter(rules, at, at == dir, body)
		}
		for _, e := range entries {
			if e.Name() == ".git" {
				continue
			}
			gone := hidden || rules.Ignored(at, e.Name(), e.IsDir())
			if rel, _ := filepath.Rel(dir, filepath.Join(at, e.Name())); gone {
				found = append(found, rel)
			}
			if e.IsDir() {
				into(filepath.Join(at, e.Name()), rules, gone)
			}
		}
	}
	into(dir, nil, false)
	slices.Sort(found)
	return all, found
}

// hard are patterns that ignore libraries are known to get wrong.
var hard = []string{
	"foo/**", "!foo/keep", "**/foo", "a/**/b", "**", "**/", "/**", "*/", "/*", "!*/", "[!a]b", "[^a]b", "[[:digit:]]x", "[[:upper:]]*",
	"[a-c]", "[]a]x", "[a-]", `\!a`, `\#a`, "#a", `a\ `, "a ", "a   ", `a\\`, `a\`, "/", "!", "//a", "a//b", "/a/", "a/b/", "*.log", "!*.log", "*a*b*",
	"a?", "?", "[[:nope:]]", "[a", "[", "a[/]b", "a/*", "a/*/b", "a/**", "**a", "a**/b", "a**b", `\a`, `[\]]`, "[[:space:]a]", "A", "*.LOG", "B/", "a\tb", "é", "[é]",
	"foo", "/foo", "foo/", "/foo/", "foo/bar", "foo*", "/foo*/", "foo/*", "!foo/bar/", "**/bar/**", "*/foo", "*/**/a",
}

func line(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "b", "foo", "*", "**", "?", "/", "/", "[ab]", "[!a]", ".log", "bar", "!", `\`, " ", "-", "[[:alpha:]]", "A", "[a-", "]"})
	if rapid.Bool().Draw(t, "hard") {
		return rapid.SampledFrom(hard).Draw(t, "line")
	}
	return strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces"), "")
}

func lines(t *rapid.T, label string) string {
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, label+" end")
	var body strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, label) {
		body.WriteString(line(t) + end)
	}
	if rapid.Bool().Draw(t, "cut") {
		return strings.TrimSuffix(body.String(), end)
	}
	return body.String()
}

// Whatever the patterns and the tree, git and we must agree about every path.
func TestAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	names := []string{"a", "b", "foo", "bar", "keep", "x.log", "ab", "a b", "A", "B", "foo.LOG", "1x", "-", "]x", "!a", "#a", "a ", `a\`, "é", "fooa", "a\tb"}
	paths, checks := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		base, err := os.MkdirTemp("", "")
		require.NoError(t, err)
		defer os.RemoveAll(base)
		home, dir := filepath.Join(base, "home"), filepath.Join(base, "dir")
		put(t, filepath.Join(home, ".config/git/ignore"), lines(t, "user"))
		fold := rapid.Bool().Draw(t, "ignorecase")
		repository(t, dir, fmt.Sprintf("\tignorecase = %v\n", fold))
		put(t, filepath.Join(dir, ".git/info/exclude"), lines(t, "exclude"))
		put(t, filepath.Join(dir, ".gitignore"), lines(t, "top"))
		name := rapid.SampledFrom(names)
		for range rapid.IntRange(8, 30).Draw(t, "files") {
			file := filepath.Join(append([]string{dir}, rapid.SliceOfN(name, 1, 4).Draw(t, "file")...)...)
			if os.MkdirAll(filepath.Dir(file), 0o755) == nil { // or one on the way is a file
				_ = os.WriteFile(file, nil, 0o644)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "nested") {
			at := filepath.Join(append([]string{dir}, rapid.SliceOfN(name, 1, 2).Draw(t, "at")...)...)
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				put(t, filepath.Join(at, ".gitignore"), lines(t, "below"))
			}
		}
		tree := NewTree(afero.NewOsFs(), Config{ExcludesFile: filepath.Join(home, ".config/git/ignore")})
		all, ours := ignored(t, tree, dir)
		theirs := git(t, home, dir, strings.Join(all, "\x00")+"\x00", "check-ignore", "--no-index", "-z", "--stdin")
		require.Equal(t, theirs, ours)

		listed := git(t, home, dir, "", "ls-files", "-o", "-i", "--exclude-standard", "-z")
		files := slices.DeleteFunc(slices.Clone(ours), func(rel string) bool {
			info, err := os.Lstat(filepath.Join(dir, rel))
			return err != nil || info.IsDir()
		})
		require.Equal(t, listed, files)
		paths, checks = paths+len(all), checks+1
	})
	t.Logf("%d paths in %d trees", paths, checks)
}
