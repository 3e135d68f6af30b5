package changelog_test

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/stretchr/testify/require"
)

func TestAdd(t *testing.T) {
	const rest = "\n## [1.2.0] - 2024-01-05\n\n- y\n"
	tests := []struct {
		name, category, entry, before, want string
	}{
		{"to a list", "Added", "new", "## [Unreleased]\n\n### Added\n\n- x\n" + rest, "## [Unreleased]\n\n### Added\n\n- x\n- new\n" + rest},
		{"in any case", "aDDed", "- new", "## Unreleased\n### Added\n- x\n### Fixed\n- z\n", "## Unreleased\n### Added\n- x\n- new\n### Fixed\n- z\n"},
		{"with the bullets of the list", "Added", "new\nand more\n\n    code", "## Unreleased\n\n### Added\n\n*   x\n    long\n", "## Unreleased\n\n### Added\n\n*   x\n    long\n*   new\n    and more\n\n        code\n"},
		{"to a loose list", "Added", "new", "## Unreleased\n\n### Added\n\n- x\n\n- z\n" + rest, "## Unreleased\n\n### Added\n\n- x\n\n- z\n\n- new\n" + rest},
		{"to an empty category", "Added", "new", "## Unreleased\n\n### Added\n\n### Fixed\n", "## Unreleased\n\n### Added\n\n- new\n\n### Fixed\n"},
		{"below a paragraph", "Added", "new", "## Unreleased\n\n### Added\n\nMuch.\n" + rest, "## Unreleased\n\n### Added\n\nMuch.\n\n- new\n" + rest},
		{"below the last list, above what follows", "Added", "new", "## Unreleased\n\n### Added\n\n- x\n\nMuch.\n", "## Unreleased\n\n### Added\n\n- x\n- new\n\nMuch.\n"},
		{"below a numbered list", "Added", "new", "## Unreleased\n\n### Added\n\n1. x\n", "## Unreleased\n\n### Added\n\n1. x\n\n- new\n"},
		{"a category in its place", "Changed", "new", "## Unreleased\n\n### Added\n\n- x\n\n### Fixed\n\n- z\n" + rest, "## Unreleased\n\n### Added\n\n- x\n\n### Changed\n\n- new\n\n### Fixed\n\n- z\n" + rest},
		{"a category without a blank line before", "Changed", "new", "## Unreleased\n### Added\n- x\n### Fixed\n- z\n", "## Unreleased\n### Added\n- x\n\n### Changed\n\n- new\n\n### Fixed\n- z\n"},
		{"a category at the end", "Security", "new", "## Unreleased\n\n### Added\n\n- x\n" + rest, "## Unreleased\n\n### Added\n\n- x\n\n### Security\n\n- new\n" + rest},
		{"the first category", "Added", "new", "## [Unreleased]\n" + rest, "## [Unreleased]\n\n### Added\n\n- new\n" + rest},
		{"the first category, as the file has them", "Fixed", "new", "# Unreleased\n# 1.0.0\n\n#### Fixed\n\n- x\n", "# Unreleased\n\n#### Fixed\n\n- new\n\n# 1.0.0\n\n#### Fixed\n\n- x\n"},
		{"a category of the file's own", "neu", "new", "## Unreleased\n\n- x\n\n## 1.0.0\n\n### Neu\n\n- x\n", "## Unreleased\n\n- x\n\n### Neu\n\n- new\n\n## 1.0.0\n\n### Neu\n\n- x\n"},
		{"without categories", "", "new", "## [Unreleased]\n- x\n" + rest, "## [Unreleased]\n- x\n- new\n" + rest},
		{"without anything", "", "new", "Unreleased\n---\n", "Unreleased\n---\n\n- new\n"},
		{"above the links", "Fixed", "new", "## [Unreleased]\n\n### Fixed\n\n- x\n\n[unreleased]: https://example.com\n", "## [Unreleased]\n\n### Fixed\n\n- x\n- new\n\n[unreleased]: https://example.com\n"},
		{"no final newline", "Added", "new", "## Unreleased\n\n### Added\n\n- x", "## Unreleased\n\n### Added\n\n- x\n- new"},
		{"CRLF and a mark", "Added", "new\nline", "\ufeff## Unreleased\r\n\r\n### Added\r\n\r\n- x\r\n", "\ufeff## Unreleased\r\n\r\n### Added\r\n\r\n- x\r\n- new\r\n  line\r\n"},
		{"headings in code are text", "Added", "new", "## Unreleased\n\n```\n### Added\n```\n\n### Added\n\n- x\n", "## Unreleased\n\n```\n### Added\n```\n\n### Added\n\n- x\n- new\n"},
		{"what looks like a release", "Added", "x\n\n## 9.9.9", "## Unreleased\n\n### Added\n\n- x\n" + rest, "## Unreleased\n\n### Added\n\n- x\n- x\n\n  ## 9.9.9\n" + rest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after, err := parse(t, tt.before).Add(tt.category, tt.entry)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(after))
		})
	}
}

func TestAddRefuses(t *testing.T) {
	const file = "## Unreleased\n\n### Added\n\n- x\n\n### Neu\n"
	tests := []struct {
		name, category, entry, before, kind, says string
	}{
		{"unknown category", "Improvments", "x", file, "unknown-section", "use Added, Neu, Changed"},
		{"no entry", "Added", " - ", file, "invalid-entry", "empty"},
		{"no text", "Added", "a\x00", file, "invalid-entry", "byte 1"},
		{"a link definition", "Added", "[unreleased]: https://elsewhere.example", file, "invalid-entry", "defines a link"},
		{"a link definition below text", "Added", "a\n\n  [Unreleased]: https://elsewhere.example", file, "invalid-entry", "defines a link"},
		{"too long", "Added", strings.Repeat("x", 9000), file, "invalid-entry", "8192"},
		{"no place", "Added", "x", "## 1.0.0\n", "no-unreleased-section", "line 1"},
		{"two places", "Added", "x", "## Unreleased\n## Unreleased\n", "ambiguous-unreleased", "1 and 2"},
		{"an open fence", "", "x", "## Unreleased\n\n```\ncode\n", "cannot-place", "by hand"},
		{"an open comment", "", "x", "## Unreleased\n\n<!-- text\n", "cannot-place", "by hand"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(t, tt.before).Add(tt.category, tt.entry)
			var r *refusal.Error
			require.ErrorAs(t, err, &r)
			require.Equal(t, tt.kind, r.Kind)
			require.Contains(t, r.Message, tt.says)
		})
	}
}

func TestMerge(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	d := parse(t, "## Unreleased\n\nHand-written.\n\n### Added\n\n- **A** second [category](https://x)!\n- Loader, see #7\n- By commit 0123456\n\n### Notes\n\n- kept\n")
	after, added, err := d.Merge([]changelog.Entry{
		{Category: "Added", Text: "a second category (#12)"},
		{Category: "Added", Text: "api: A second category"},
		{Category: "Fixed", Text: "Load twice (#7)"},
		{Category: "Fixed", Text: "By its hash", Commit: hash},
		{Category: "Fixed", Text: "New one (#8)"},
		{Category: "Fixed", Text: "New two (#8)"},
		{Category: "Fixed", Text: "new one"},
		{Category: "Changed", Text: "**Breaking:** x"},
	})
	require.NoError(t, err)
	require.Len(t, added, 3)
	require.Equal(t, "## Unreleased\n\nHand-written.\n\n### Added\n\n- **A** second [category](https://x)!\n- Loader, see #7\n- By commit 0123456\n\n### Notes\n\n- kept\n\n"+
		"### Changed\n\n- **Breaking:** x\n\n### Fixed\n\n- New one (#8)\n- New two (#8)\n", string(after.Bytes()))
	again, added, err := parse(t, string(after.Bytes())).Merge(added)
	require.NoError(t, err)
	require.Empty(t, added)
	require.Equal(t, string(after.Bytes()), string(again.Bytes()))
}

// However many categories get entries, the file is what adding one after the other makes of it: also where several of them
// go to one place, or to the end of a file.
func TestMergeIsAddAfterAdd(t *testing.T) {
	entries := []changelog.Entry{
		{Category: "Fixed", Text: "New f"}, {Category: "Added", Text: "New a\n\n```\n## 9.9.9\n```"}, {Category: "Changed", Text: "New c"},
		{Category: "Security", Text: "New s"}, {Category: "Added", Text: "New b"}, {Category: "Removed", Text: "New r"},
	}
	const rest = "\n## [1.2.0] - 2024-01-05\n\n### Added\n\n- y\n\n[1.2.0]: https://example.com\n"
	tests := []struct{ name, file string }{
		{"nothing there", "## [Unreleased]\n" + rest},
		{"no blank lines", "## [Unreleased]\n### Added\n- x\n### Removed\n- z\n## [1.2.0] - 2024-01-05\n- y\n"},
		{"empty categories", "## Unreleased\n\n### Added\n\n### Fixed\n\n### Notes\n" + rest},
		{"all of the file, without an end", "## Unreleased\n\n### Changed\n\n* x"},
		{"a heading without an end", "Changes\n===\n\n## Unreleased"},
		{"CRLF and a mark", "\ufeff## Unreleased\r\n\r\n### Changed\r\n\r\n- x\r\n\r\n## 1.0.0\r\n\r\n- y\r\n"},
		{"above links and a comment", "## Unreleased\n\nText.\n\n### Security\n\n- x\n\n<!-- links -->\n[unreleased]: https://example.com\n"},
		{"below releases", "## 2.0.0\n\n- y\n\nUnreleased\n---\n\n### Fixed\n\n1. x\n\n```\n### Added\n```\n" + rest},
		{"other words", "# Unreleased\n\n#### ADDED\n\n-   x\n\n-   z\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after, added, err := parse(t, tt.file).Merge(entries)
			require.NoError(t, err)
			require.Len(t, added, len(entries))
			step, ok := addEach(t, tt.file, added)
			require.True(t, ok)
			require.Equal(t, step, string(after.Bytes()))
		})
	}
}

// What reads back as anything else is refused whichever category it was that went wrong.
func TestMergeRefuses(t *testing.T) {
	_, _, err := parse(t, "## Unreleased\n\n### Added\n\n- x\n\n### Security\n\n```\nan open fence\n").Merge([]changelog.Entry{
		{Category: "Added", Text: "One"}, {Category: "Security", Text: "Two"},
	})
	var r *refusal.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, "cannot-place", r.Kind)
}

// A file that sorts no entries gets no categories.
func TestMergeIntoAPlainList(t *testing.T) {
	const rest = "\n## 1.0.0\n\n* Old\n"
	after, added, err := parse(t, "## Unreleased\n"+rest).Merge([]changelog.Entry{{Category: "Fixed", Text: "One"}, {Category: "Added", Text: "Two"}})
	require.NoError(t, err)
	require.Equal(t, []changelog.Entry{{Text: "One"}, {Text: "Two"}}, added)
	require.Equal(t, "## Unreleased\n\n* One\n* Two\n"+rest, string(after.Bytes()))
}

// Of the same entries one is added, in a plain list as in one with categories.
func TestMergeTheSameTwice(t *testing.T) {
	twice := []changelog.Entry{{Category: "Fixed", Text: "One"}, {Category: "Fixed", Text: "one!"}}
	for _, head := range []string{"## Unreleased\n\n- Zero\n", "## Unreleased\n\n### Fixed\n\n- Zero\n"} {
		after, added, err := parse(t, head).Merge(twice)
		require.NoError(t, err)
		require.Len(t, added, 1)
		require.Equal(t, head+"- One\n", string(after.Bytes()))
	}
}
