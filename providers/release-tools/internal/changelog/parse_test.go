package changelog_test

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/stretchr/testify/require"
)

// R02, R03, R08 and the spellings of real projects.
func TestHeadings(t *testing.T) {
	tests := []struct {
		name, heading string
		want          changelog.Section
	}{
		{"keep a changelog", "## [1.2.0] - 2024-01-05", changelog.Section{Label: "1.2.0", Date: "2024-01-05"}},
		{"plain", "## 1.2.0 - 2024-01-05", changelog.Section{Label: "1.2.0", Date: "2024-01-05"}},
		{"v and parentheses", "## v2.32.0 (2018-06-26)", changelog.Section{Label: "2.32.0", Date: "2018-06-26"}},
		{"inline link", "## [16.3.1](https://github.com/example/app/compare/v16.3.0...v16.3.1) (2023-06-17)", changelog.Section{Label: "16.3.1", Date: "2023-06-17"}},
		{"yanked", "## [0.0.5] - 2014-12-13 [YANKED]", changelog.Section{Label: "0.0.5", Date: "2014-12-13", Yanked: true}},
		{"odd date", "## 0.0.4 - 13.12.2014", changelog.Section{Label: "0.0.4", Date: "13.12.2014"}},
		{"dashes of another kind", "## [1.0.0] – 2024–03–02", changelog.Section{Label: "1.0.0", Date: "2024-03-02"}},
		{"to be done", "## 5.0.0 - TBD", changelog.Section{Label: "5.0.0", Pending: true}},
		{"a word before", "## Version 26.5.1", changelog.Section{Label: "26.5.1"}},
		{"no strict version", "## Version 18.3a0", changelog.Section{Label: "18.3a0"}},
		{"compound", "## [1.45.0/0.67.0] 2026-01-02", changelog.Section{Label: "1.45.0/0.67.0", Date: "2026-01-02"}},
		{"setext", "1.2.0 (2024-01-05)\n==================", changelog.Section{Label: "1.2.0", Date: "2024-01-05"}},
		{"pull request", "### 4.0.1 [#12](https://github.com/example/app/pull/12)", changelog.Section{Label: "4.0.1"}},
		{"unreleased", "## Unreleased", changelog.Section{Unreleased: true}},
		{"unreleased in brackets", "## [Unreleased]", changelog.Section{Unreleased: true}},
		{"unreleased in capitals", "## [UNRELEASED]", changelog.Section{Unreleased: true}},
		{"unreleased with a suffix", "## [Unreleased] - ReleaseDate", changelog.Section{Unreleased: true}},
		{"unreleased with spaces", "##  Unreleased  ", changelog.Section{Unreleased: true}},
		{"unreleased with a link", "# [unreleased](https://example.com/compare/v1.0.0...main)", changelog.Section{Unreleased: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				d := parse(t, strings.ReplaceAll(tt.heading+"\n- x\n", "\n", eol))
				require.Len(t, d.Sections, 1)
				got := d.Sections[0]
				require.Equal(t, tt.want, changelog.Section{Unreleased: got.Unreleased, Label: got.Label, Date: got.Date, Yanked: got.Yanked, Pending: got.Pending})
				require.Equal(t, "- x\n", d.Text(got))
			}
		})
	}
}

func TestNoHeadings(t *testing.T) {
	for _, text := range []string{
		"## Unreleased features of old", "## 2024 roadmap", "## Release process", "- ## [1.0.0]", "> ## [1.0.0]",
		"    ## [1.0.0]", "```\n## [1.0.0]\n```", "<!--\n## [1.0.0]\n-->", "~~~~\n~~~\n## [1.0.0]\n~~~~", "##1.0.0", "\\## 1.0.0", "",
		"<details>\n## 1.0.0\n</details>", "####### 1.0.0",
	} {
		require.Empty(t, parse(t, text).Sections, "%q", text)
	}
}

// R08: what is planned, and what has no date beside others that have one, is not the last release.
func TestReleased(t *testing.T) {
	d := parse(t, "## 5.0.0 - TBD\n\n## Unreleased\n\n## 4.1.0\n\n## 4.0.0 - 2024-01-01\n\n## 3.0.0 - 2023-01-01 [YANKED]\n")
	released := d.Released()
	require.Len(t, released, 2)
	require.Equal(t, "4.0.0", released[0].Label)
	require.Equal(t, "3.0.0", released[1].Label)
	require.Len(t, parse(t, "# v2.0.0\n\n# v1.0.0\n").Released(), 2, "a project that writes no dates")
}

// R17
func TestSince(t *testing.T) {
	d := parse(t, "## Unreleased\n\n## 2.0.0\n\n## 1.10.0\n\n## 1.9.1\n\n## 1.9.0\n\n## 1.8.0\n")
	newer, err := d.Since("1.9.0")
	require.NoError(t, err)
	var got []string
	for _, s := range newer {
		got = append(got, s.Label)
	}
	require.Equal(t, []string{"2.0.0", "1.10.0", "1.9.1"}, got)
	_, err = d.Since("1.9.5")
	require.EqualError(t, err, "version 1.9.5 is not in CHANGELOG.md; the nearest are 1.9.1 and 1.10.0")
	_, err = d.Since("word")
	require.ErrorContains(t, err, "the nearest are 2.0.0 and 1.10.0")

	backport := parse(t, "## 1.9.1\n\n## 2.0.0\n\n## 1.9.0\n")
	newer, err = backport.Since("1.9.1")
	require.NoError(t, err)
	require.Len(t, newer, 1)
	require.Equal(t, "2.0.0", newer[0].Label)
}

// R03, R16
func TestFind(t *testing.T) {
	d := parse(t, "## [1.2.0+b1] - 2024-01-05\n\n- x\n\n## [5.0,2] - 2023-01-01\n\n- y\n\n## [1.0.0/0.5.0] - 2022-01-01\n\n## Version 18.3a0\n")
	for _, version := range []string{"1.2.0", "v1.2.0", "1.2.0+b9", "0.5.0", "18.3A0"} {
		_, err := d.Find(version)
		require.NoError(t, err, version)
	}
	_, err := d.Find("5.0.2")
	require.ErrorContains(t, err, `the heading "[5.0,2] - 2023-01-01" on line 5 looks like a version and is none`)
	_, err = parse(t, strings.Repeat("## 5.0,"+strings.Repeat("2", 500)+"\n", 20_000)).Find("5.0.2")
	require.ErrorContains(t, err, "on line 3 looks like a version and is none; neither are 19997 more")
	require.Less(t, len(err.Error()), 1000)
	first, err := d.Find("1.2.0")
	require.NoError(t, err)
	require.Equal(t, "- x\n", d.Text(first), "a heading of the same level ends a section, whatever it says")
}

func TestCategories(t *testing.T) {
	d := parse(t, strings.ReplaceAll(`## Unreleased

Some words.

- first
  goes on

  and on
- second
### Ajouté
* étoile
	* nested

1. one
2. two

`+"```go\n- no entry\n```"+`

## 1.0.0

[Unreleased]: https://example.com
`, "\n", "\r\n"))
	u, err := d.Unreleased()
	require.NoError(t, err)
	require.Equal(t, []changelog.Category{
		{Entries: []string{"Some words.", "first\ngoes on\n\nand on", "second"}},
		{Name: "Ajouté", Entries: []string{"étoile\n* nested", "one", "two", "```go\n- no entry\n```"}},
	}, d.Categories(u))
}

func TestTextLeavesTheLinksOut(t *testing.T) {
	d := parse(t, "## Unreleased\n\n\n- x\n- see [a]\n\n\n[a]: https://example.com\n<!-- next-url -->\n[Unreleased]: https://example.com\n\n")
	u, err := d.Unreleased()
	require.NoError(t, err)
	require.Equal(t, "- x\n- see [a]\n", d.Text(u))
	empty := parse(t, "## Unreleased\n\n[a]: https://example.com\n")
	require.Empty(t, empty.Text(empty.Sections[0]))
}

func TestParseRefuses(t *testing.T) {
	for _, src := range []string{"\xff\xfe#\x00", "\xfe\xff\x00#", "# a\n\x00b"} {
		_, err := changelog.Parse("CHANGELOG.md", []byte(src))
		require.ErrorContains(t, err, "cannot read CHANGELOG.md as Markdown")
	}
}

// What Markdown takes minutes for is refused by line; what is merely odd is not.
func TestParseRefusesWhatTakesTooLong(t *testing.T) {
	for _, line := range []string{
		strings.Repeat(">", 1_000_000), strings.Repeat("> ", 500), strings.Repeat("- ", 50_000), "  " + strings.Repeat("1. * ", 60), strings.Repeat(" ", 4000) + "- a",
	} {
		_, err := changelog.Parse("CHANGELOG.md", []byte("## Unreleased\n\n"+line+"\n"))
		require.ErrorContains(t, err, "line 3 is nested deeper than 100 levels")
	}
	_, err := changelog.Parse("CHANGELOG.md", []byte(strings.Repeat("[a]: b\n", 1_000_000)))
	require.ErrorContains(t, err, "line 20001 follows 20000 others that define links")
	for _, line := range []string{strings.Repeat("[a]: b\n", 5000), strings.Repeat("-", 2000), strings.Repeat("- ", 50), strings.Repeat("1", 2000), strings.Repeat(" ", 900) + "a", "a " + strings.Repeat("> ", 2000)} {
		parse(t, "## Unreleased\n\n"+line+"\n")
	}
}

// Bytes that are no UTF-8 are kept in the file and replaced in what is shown.
func TestTextIsUTF8(t *testing.T) {
	d := parse(t, "## Unreleased\n\n- caf\xe9\n")
	u, err := d.Unreleased()
	require.NoError(t, err)
	require.Equal(t, "- caf\uFFFD\n", d.Text(u))
	require.Contains(t, string(promote(t, "## Unreleased\n\n- caf\xe9\n", release(t, "1.0.0", "")).After), "- caf\xe9\n")
}
