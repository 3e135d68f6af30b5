package changelog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const after = "https://github.com/example/app/compare/"

func TestPromote(t *testing.T) {
	tests := []struct {
		name, before, want string
		previous           string
	}{
		{
			name:   "R01: code and comments are text",
			before: "## [Unreleased]\n### Added\n- before\n\n````md\n```\n## [1.9.0] - 2020-01-01\n````\n- after\n\n<!--\n\n## [Unreleased]\n-->\n\n## [1.2.0] - 2024-01-05\n- x\n",
			want:   "## [Unreleased]\n\n## [1.3.0] - 2026-11-30\n\n### Added\n- before\n\n````md\n```\n## [1.9.0] - 2020-01-01\n````\n- after\n\n<!--\n\n## [Unreleased]\n-->\n\n## [1.2.0] - 2024-01-05\n- x\n",
		},
		{
			name:   "R02: plain",
			before: "## Unreleased\n\n- x\n",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\n- x\n",
		},
		{
			name:   "R02: suffix and capitals stay above",
			before: "## [UNRELEASED] - ReleaseDate\n- x\n",
			want:   "## [UNRELEASED] - ReleaseDate\n\n## [1.3.0] - 2026-11-30\n\n- x\n",
		},
		{
			name:   "R02: no blank line after",
			before: "##  Unreleased  \n- x\n",
			want:   "##  Unreleased  \n\n##  1.3.0 - 2026-11-30\n\n- x\n",
		},
		{
			name:     "R03: inline links",
			before:   "## [Unreleased](" + after + "v1.2.0...master)\n\n- x\n\n## [1.2.0](" + after + "v1.1.0...v1.2.0) (2023-06-17)\n\n- y\n",
			want:     "## [Unreleased](" + after + "v1.3.0...master)\n\n## [1.3.0](" + after + "v1.2.0...v1.3.0) (2026-11-30)\n\n- x\n\n## [1.2.0](" + after + "v1.1.0...v1.2.0) (2023-06-17)\n\n- y\n",
			previous: "1.2.0",
		},
		{
			name:     "R04: links, whatever else is defined",
			before:   "## [Unreleased]\n\n- x [SemVer]\n\n## [1.2.0] - 2024-01-05\n\n- y\n\n[unreleased]: " + after + "v1.2.0...HEAD\n[1.2.0]: " + after + "v1.1.0...v1.2.0\n[SemVer]: https://semver.org\n[@user]: https://github.com/user\n",
			want:     "## [Unreleased]\n\n## [1.3.0] - 2026-11-30\n\n- x [SemVer]\n\n## [1.2.0] - 2024-01-05\n\n- y\n\n[unreleased]: " + after + "v1.3.0...HEAD\n[1.3.0]: " + after + "v1.2.0...v1.3.0\n[1.2.0]: " + after + "v1.1.0...v1.2.0\n[SemVer]: https://semver.org\n[@user]: https://github.com/user\n",
			previous: "1.2.0",
		},
		{
			name:   "R05: empty categories go",
			before: "## Unreleased\n\n### Added\n\n### Changed\n\n- c\n\n### Deprecated\n### Removed\n\n### Fixed\n- f\n\n### Security\n\n## 1.2.0\n",
			want:   "## Unreleased\n\n## 1.3.0\n\n### Changed\n\n- c\n\n### Fixed\n- f\n\n## 1.2.0\n",
		},
		{
			name:   "R05: with a final newline",
			before: "## Unreleased\n\n### Added\n\n- a\n\n### Fixed\n\n### Security\n",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\n### Added\n\n- a\n",
		},
		{
			name:   "R05: without a final newline",
			before: "## Unreleased\n\n### Added\n\n- a\n\n### Fixed\n\n### Security",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\n### Added\n\n- a",
		},
		{
			name:   "R05: before the links",
			before: "## Unreleased\n\n### Added\n\n- a\n\n### Fixed\n\n[a]: https://example.com\n",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\n### Added\n\n- a\n\n[a]: https://example.com\n",
		},
		{
			name:   "R05: a comment under a category keeps it",
			before: "## Unreleased\n\n### Added\n\n<!-- what is new -->\n\n### Fixed\n\n- f\n",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\n### Added\n\n<!-- what is new -->\n\n### Fixed\n\n- f\n",
		},
		{
			name:   "R05: headings below categories count",
			before: "## Unreleased\n\n### Added\n\n#### Parser\n\n- p\n\n### Fixed\n\n#### Nothing\n\n## 1.2.0 - 2024-01-05\n",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\n### Added\n\n#### Parser\n\n- p\n\n## 1.2.0 - 2024-01-05\n",
		},
		{
			name:   "R07: CRLF",
			before: "# Log\r\n\r\n## [Unreleased]\r\n\r\n- x\r\n\r\n## [1.2.0] - 2024-01-05\r\n",
			want:   "# Log\r\n\r\n## [Unreleased]\r\n\r\n## [1.3.0] - 2026-11-30\r\n\r\n- x\r\n\r\n## [1.2.0] - 2024-01-05\r\n",
		},
		{
			name:   "R07: mixed endings follow the Unreleased heading",
			before: "# Log\n\n## Unreleased\r\n- x\n- y\r\n",
			want:   "# Log\n\n## Unreleased\r\n\r\n## 1.3.0 - 2026-11-30\r\n\r\n- x\n- y\r\n",
		},
		{
			name:   "R08: the style of the newest, without what is special to it",
			before: "## 2.0.0 - TBD\n\n## Unreleased\n\n- x\n\n## v1.2.0 (2024-01-05) [YANKED]\n",
			want:   "## 2.0.0 - TBD\n\n## Unreleased\n\n## v1.3.0 (2026-11-30)\n\n- x\n\n## v1.2.0 (2024-01-05) [YANKED]\n",
		},
		{
			name:   "R09: whatever stands before the first category",
			before: "## Unreleased\n\nWords.\n\n- list\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n### Added\n\n- x\n\n## 1.2.0 - 2024-01-05\n",
			want:   "## Unreleased\n\n## 1.3.0 - 2026-11-30\n\nWords.\n\n- list\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n### Added\n\n- x\n\n## 1.2.0 - 2024-01-05\n",
		},
		{
			name:   "R10: the preamble is not a section",
			before: "# Log (see [Keep a Changelog](https://example.com/))\n\nUnreleased changes are listed first.\n\n## [Unreleased]\n\n- x\n",
			want:   "# Log (see [Keep a Changelog](https://example.com/))\n\nUnreleased changes are listed first.\n\n## [Unreleased]\n\n## [1.3.0] - 2026-11-30\n\n- x\n",
		},
		{
			name:     "R14: seams, and a last line without newline",
			before:   "## [Unreleased]\n### Added\n- x\n## [1.2.0] - 2024-01-05\n- y\n\n[Unreleased]: " + after + "v1.2.0...HEAD",
			want:     "## [Unreleased]\n\n## [1.3.0] - 2026-11-30\n\n### Added\n- x\n## [1.2.0] - 2024-01-05\n- y\n\n[Unreleased]: " + after + "v1.3.0...HEAD\n[1.3.0]: " + after + "v1.2.0...v1.3.0",
			previous: "1.2.0",
		},
		{
			name:   "R15: the first release",
			before: "## [Unreleased]\n\n- x\n\n[Unreleased]: https://github.com/example/app/commits/main\n",
			want:   "## [Unreleased]\n\n## [1.3.0] - 2026-11-30\n\n- x\n\n[Unreleased]: " + after + "v1.3.0...HEAD\n[1.3.0]: https://github.com/example/app/releases/tag/v1.3.0\n",
		},
		{
			name:     "tag pages are the custom",
			before:   "## [Unreleased]\n\n- x\n\n## [1.2.0] 2024-01-05\n\n## [1.1.0] 2023-01-05\n\n[Unreleased]: " + after + "v1.2.0...HEAD\n[1.2.0]: https://example.org/tag/v1.2.0\n[1.1.0]: https://example.org/tag/v1.1.0\n",
			want:     "## [Unreleased]\n\n## [1.3.0] 2026-11-30\n\n- x\n\n## [1.2.0] 2024-01-05\n\n## [1.1.0] 2023-01-05\n\n[Unreleased]: " + after + "v1.3.0...HEAD\n[1.3.0]: https://example.org/tag/v1.3.0\n[1.2.0]: https://example.org/tag/v1.2.0\n[1.1.0]: https://example.org/tag/v1.1.0\n",
			previous: "1.2.0",
		},
		{
			name:   "setext",
			before: "Unreleased\n----------\n\n- x\n\n1.2.0 (2024-01-05)\n------------------\n\n- y\n",
			want:   "Unreleased\n----------\n\n1.3.0 (2026-11-30)\n------------------\n\n- x\n\n1.2.0 (2024-01-05)\n------------------\n\n- y\n",
		},
		{
			name:   "byte order mark, versions at the top level",
			before: "\ufeff# unreleased\n\n## Features\n\n- x\n\n# v1.2.0\n",
			want:   "\ufeff# unreleased\n\n# v1.3.0\n\n## Features\n\n- x\n\n# v1.2.0\n",
		},
		{
			name:   "compound versions and a subtitle",
			before: "## [Unreleased]\n\n- x\n\n## [1.2.0/0.5.0] Big one 2024-01-05\n\n- y\n",
			want:   "## [Unreleased]\n\n## [1.3.0] - 2026-11-30\n\n- x\n\n## [1.2.0/0.5.0] Big one 2024-01-05\n\n- y\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rel := release(t, "1.3.0", tt.previous)
			p := promote(t, tt.before, rel)
			require.Equal(t, tt.want, string(p.After))
			requireOnlyReleaseLines(t, tt.before, string(p.After))
		})
	}
}

// R04: links that were stale are put right, and that is said.
func TestPromoteRepairsStaleLinks(t *testing.T) {
	p := promote(t, "## [Unreleased]\n\n- x\n\n## [1.2.0] - 2024-01-05\n\n[Unreleased]: "+after+"v1.0.0...HEAD\n", release(t, "1.3.0", "1.2.0"))
	require.Contains(t, string(p.After), "[Unreleased]: "+after+"v1.3.0...HEAD\n[1.3.0]: "+after+"v1.2.0...v1.3.0\n")
	require.Len(t, p.Warnings, 1)
	require.Contains(t, p.Warnings[0], "compared from v1.0.0")
}

// R12: without links in the file the remote decides, and an unknown one gives none.
func TestPromoteLinksByRemote(t *testing.T) {
	src := "## [Unreleased]\n\n- x\n\n## [1.2.0] - 2024-01-05\n\n- y\n"
	rel := release(t, "1.3.0", "1.2.0")
	rel.Links.Compare = "https://gitlab.com/group/sub/app/-/compare/{from}...{to}"
	p := promote(t, src, rel)
	require.True(t, strings.HasSuffix(string(p.After), "- y\n\n[Unreleased]: https://gitlab.com/group/sub/app/-/compare/v1.3.0...HEAD\n"+
		"[1.3.0]: https://gitlab.com/group/sub/app/-/compare/v1.2.0...v1.3.0\n"), "%s", p.After)
	require.Empty(t, p.Warnings)

	unknown := release(t, "1.3.0", "1.2.0")
	require.Empty(t, promote(t, src, unknown).Warnings, "published nowhere")
	unknown.Links.Remote = true
	p = promote(t, src, unknown)
	require.NotContains(t, string(p.After), "]:")
	require.Len(t, p.Warnings, 1)
	require.Contains(t, p.Warnings[0], "set compare_url")

	p = promote(t, strings.ReplaceAll(strings.ReplaceAll(src, "[", ""), "]", ""), rel)
	require.NotContains(t, string(p.After), "]:", "headings without brackets need no link")
}

// A configured compare_url is the last word.
func TestPromoteLinksByConfiguration(t *testing.T) {
	rel := release(t, "1.3.0", "1.2.0")
	rel.Links.Compare, rel.Links.Fixed = "https://git.example.org/diff?a={from}&b={to}", true
	p := promote(t, "## [Unreleased]\n\n- x\n\n## [1.2.0] - 2024-01-05\n\n[Unreleased]: "+after+"v1.2.0...main\n", rel)
	require.Contains(t, string(p.After), "[Unreleased]: https://git.example.org/diff?a=v1.3.0&b=main\n[1.3.0]: https://git.example.org/diff?a=v1.2.0&b=v1.3.0\n")
}

func TestPromoteRefuses(t *testing.T) {
	tests := []struct{ name, src, says string }{
		{"planned version", "## 1.3.0 - TBD\n\n## Unreleased\n\n- x\n", "has version 1.3.0 already, on line 1"},
		{"yanked version", "## Unreleased\n\n- x\n\n## 1.3.0 - 2024-01-05 [YANKED]\n", "has version 1.3.0 already, on line 5"},
		{"only build metadata differs", "## Unreleased\n\n- x\n\n## 1.3.0+b1 - 2024-01-05\n", "has version 1.3.0+b1 already"},
		{"nothing", "## Unreleased\n\n---\n\n[a]: https://example.com\n", "nothing to release: the Unreleased section on line 1"},
		{"23 of them", strings.Repeat("## Unreleased\n\n- x\n\n", 3), "3 Unreleased headings, on lines 1 and 5 and 9"},
		{"open code fence", "## [Unreleased]\n\n- x\n\n## [1.2.0] - 2024-01-05\n\n```\n", "code fence or comment left open"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rel := release(t, "1.3.0", "1.2.0")
			rel.Links.Compare = after + "{from}...{to}"
			_, err := parse(t, tt.src).Promote(rel)
			require.ErrorContains(t, err, tt.says)
		})
	}
}
