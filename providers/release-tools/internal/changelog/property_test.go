package changelog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/stretchr/testify/require"
)

// realFiles are changelogs of well-known projects, and each of them with other line endings, a byte order mark and another
// end; also with a place for what is unreleased, where it has none.
func realFiles(t testing.TB) map[string]string {
	dir := os.Getenv("RELEASE_TOOLS_CHANGELOGS")
	if dir == "" {
		t.Skip("RELEASE_TOOLS_CHANGELOGS names no folder of real changelogs")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*__*"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	files := map[string]string{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		for variant, change := range map[string]func(string) string{
			"":        func(s string) string { return s },
			" crlf":   func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n") },
			" mark":   func(s string) string { return "\ufeff" + strings.TrimPrefix(s, "\ufeff") },
			" no end": func(s string) string { return strings.TrimRight(s, "\r\n") },
			" filled": fill,
			" crlf full": func(s string) string {
				return strings.ReplaceAll(strings.ReplaceAll(fill(s), "\r\n", "\n"), "\n", "\r\n")
			},
		} {
			files[filepath.Base(name)+variant] = change(string(raw))
		}
	}
	return files
}

// fill puts an entry below the Unreleased heading, and that heading above the first release if there is none.
func fill(file string) string {
	d, err := changelog.Parse("", []byte(file))
	if err != nil || len(d.Sections) == 0 {
		return file
	}
	lines := strings.SplitAfter(file, "\n")
	at, text := d.Sections[0].Line-1, "## [Unreleased]\n\n- Filled in\n\n"
	if u, err := d.Unreleased(); err == nil {
		at, text = u.Line, "\n- Filled in\n"
	}
	return strings.Join(lines[:at], "") + text + strings.Join(lines[at:], "")
}

// Section 6 of the cases: of a release that is accepted, the difference is the new heading, the links, blank lines and
// empty categories; and the file then holds exactly one version more.
func TestReleaseOfRealFiles(t *testing.T) {
	accepted := 0
	for name, file := range realFiles(t) {
		d := parse(t, file)
		p, err := d.Promote(release(t, "999.0.0", previous(d)))
		if err != nil {
			continue
		}
		accepted++
		requireOnlyReleaseLines(t, file, string(p.After))
		requireSameParts(t, []byte(file), p.After)
		if after := string(p.After); strings.HasSuffix(file, "\n") != strings.HasSuffix(after, "\n") {
			require.Regexp(t, `\n\[[^\n]*\n$`, after, "%s: only a link line that is appended may end the file anew", name)
		}
		next := parse(t, string(p.After))
		require.Equal(t, append([]string{"999.0.0"}, labels(d)...), sorted(labels(next), "999.0.0"), name)
		if u, err := next.Unreleased(); err == nil {
			require.True(t, next.Empty(u), name)
		}
		again, err := changelog.Parse("", p.After)
		require.NoError(t, err)
		_, err = again.Promote(release(t, "999.0.1", "999.0.0"))
		require.Error(t, err, "nothing is left to release")
	}
	require.GreaterOrEqual(t, accepted, 30, "too few of the files could be released to prove anything")
}

// sorted moves a label to the front, wherever in the file its section stands.
func sorted(labels []string, first string) []string {
	out := []string{first}
	for _, l := range labels {
		if l != first {
			out = append(out, l)
		}
	}
	return out
}

// An entry that is added is all that is added, and it is an entry.
func TestAddToRealFiles(t *testing.T) {
	accepted := 0
	for name, file := range realFiles(t) {
		for _, category := range append([]string{""}, changelog.Standard...) {
			after, err := parse(t, file).Add(category, "A new entry\nof two lines")
			if err != nil {
				continue
			}
			accepted++
			requireInserted(t, file, string(after))
			if onlyCRLF(file) {
				require.True(t, onlyCRLF(string(after)), name)
			}
			require.Equal(t, strings.HasSuffix(file, "\n"), strings.HasSuffix(string(after), "\n"), name)
		}
	}
	require.GreaterOrEqual(t, accepted, 200, "too few of the files took an entry to prove anything")
}

// requireInserted holds after to be before with one piece put in.
func requireInserted(t testing.TB, before, after string) {
	t.Helper()
	n := len(after) - len(before)
	require.Positive(t, n)
	at := 0
	for at < len(before) && before[at] == after[at] {
		at++
	}
	for start := at; start >= 0; start-- {
		if before[start:] == after[start+n:] {
			return
		}
		if start > 0 && start < at-n {
			break
		}
	}
	require.Fail(t, "other bytes changed")
}

// FuzzAdd adds anything to anything: no panic, and what is accepted is one piece more and nothing else.
func FuzzAdd(f *testing.F) {
	f.Add([]byte("## [Unreleased]\n\n### Added\n\n- x\n\n## [1.2.0] - 2024-01-05\n"), "Added", "new\n\nmore")
	f.Add([]byte("\ufeff# unreleased\r\n* a\r\n\r\n* b"), "", "```\nx")
	f.Add([]byte("Unreleased\n===\n1. x\n"), "fixed", "<!-- x")
	f.Add([]byte("## Unreleased\n-\tx\n[a]: b\n"), "", "[x]: y")
	f.Fuzz(func(t *testing.T, src []byte, category, entry string) {
		kept := bytes.Clone(src)
		d, err := changelog.Parse("CHANGELOG.md", src)
		if err != nil {
			return
		}
		after, err := d.Add(category, entry)
		require.Equal(t, kept, src, "the input was written to")
		if err != nil {
			return
		}
		requireInserted(t, string(src), string(after))
		next, err := changelog.Parse("CHANGELOG.md", after)
		require.NoError(t, err)
		require.Len(t, next.Sections, len(d.Sections))
		require.GreaterOrEqual(t, entries(t, next), entries(t, d)+1)
	})
}

func entries(t *testing.T, d *changelog.Document) (n int) {
	u, err := d.Unreleased()
	require.NoError(t, err)
	for _, c := range d.Categories(u) {
		n += len(c.Entries)
	}
	return n
}

// FuzzMerge drafts into anything: whatever was written there is there afterwards, in the same order.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("## [Unreleased]\n\nText\n\n### Added\n\n- x\n\n## [1.2.0] - 2024-01-05\n"), "X", "y (#1)")
	f.Add([]byte("\ufeff# unreleased\r\n* a\r\n\r\n* b"), "```", "<!--")
	f.Fuzz(func(t *testing.T, src []byte, a, b string) {
		d, err := changelog.Parse("CHANGELOG.md", src)
		if err != nil {
			return
		}
		after, added, err := d.Merge([]changelog.Entry{{Category: "Added", Text: a}, {Category: "Fixed", Text: b}, {Category: "Added", Text: b}})
		if err != nil {
			return
		}
		rest := string(after.Bytes())
		for line := range strings.Lines(string(src)) {
			_, behind, found := strings.Cut(rest, strings.TrimRight(line, "\r\n"))
			require.True(t, found, "%q is gone from %q", line, after.Bytes())
			rest = behind
		}
		if len(added) == 0 {
			require.Equal(t, string(src), string(after.Bytes()))
		}
		if step, ok := addEach(t, string(src), added); ok {
			require.Equal(t, step, string(after.Bytes()))
		}
	})
}

// addEach adds entries category by category, each to the file that the one before left. It may refuse what Merge takes: a
// category can part an entry from a text below that would have run on with it.
func addEach(t testing.TB, file string, entries []changelog.Entry) (after string, ok bool) {
	for _, category := range append([]string{""}, changelog.Standard...) {
		var texts []string
		for _, e := range entries {
			if e.Category == category {
				texts = append(texts, e.Text)
			}
		}
		next, err := parse(t, file).Add(category, texts...)
		if err != nil {
			return "", false
		}
		file = string(next)
	}
	return file, true
}

// What is merged into a real file is what adding each category would make of it.
func TestMergeIntoRealFiles(t *testing.T) {
	accepted := 0
	for name, file := range realFiles(t) {
		after, added, err := parse(t, file).Merge([]changelog.Entry{
			{Category: "Security", Text: "A first new entry"}, {Category: "Changed", Text: "A second\nnew entry"},
			{Category: "Fixed", Text: "A third new entry"}, {Category: "Changed", Text: "A fourth new entry"},
		})
		if err != nil {
			continue
		}
		accepted++
		step, ok := addEach(t, file, added)
		require.True(t, ok, name)
		require.Equal(t, step, string(after.Bytes()), name)
	}
	require.GreaterOrEqual(t, accepted, 40, "too few of the files took entries to prove anything")
}
