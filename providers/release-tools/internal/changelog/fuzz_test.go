package changelog_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/stretchr/testify/require"
)

// FuzzPromote reads and releases anything: no panic, and a release that is accepted keeps every promise.
func FuzzPromote(f *testing.F) {
	for _, s := range []string{
		"## [Unreleased]\n\n- x\n\n## [1.2.0] - 2024-01-05\n\n[Unreleased]: https://github.com/a/b/compare/v1.2.0...HEAD\n",
		"\ufeff# unreleased\r\n\r\n### A\r\n\r\n### B\r\n- x", "Unreleased\n===\nx\n\n1.2.0 (2024-01-05)\n===\n",
		"## [Unreleased](https://github.com/a/b/compare/v1...main)\n- x\n## [1.2.0](https://github.com/a/b/compare/v1...v2) (2020-01-01)\n",
		"## Unreleased ##\n```\n## 1.0.0\n", "## [Unreleased]\n- x\n[Unreleased]:\nhttps://a/compare/b...c\n'title'\n",
	} {
		f.Add([]byte(s))
	}
	if dir := os.Getenv("RELEASE_TOOLS_CHANGELOGS"); dir != "" {
		names, err := filepath.Glob(filepath.Join(dir, "*__*"))
		require.NoError(f, err)
		for _, name := range names {
			src, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(src[:min(len(src), 4096)])
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := string(src)
		d, err := changelog.Parse("CHANGELOG.md", src)
		if err != nil {
			return
		}
		for _, s := range d.Sections {
			d.Text(s)
			d.Categories(s)
		}
		rel := release(t, "999.0.0", "1.2.0")
		rel.Links.Compare = "https://github.com/a/b/compare/{from}...{to}"
		p, err := d.Promote(rel)
		require.Equal(t, kept, string(src), "the input was written to")
		if err != nil {
			return
		}
		next, err := changelog.Parse("CHANGELOG.md", p.After)
		require.NoError(t, err)
		require.Len(t, next.Sections, len(d.Sections)+1)
		_, err = next.Find("999.0.0")
		require.NoError(t, err)
		requireSameParts(t, src, p.After)
	})
}

// requireSameParts holds the content to be the same bytes in the same order, the headings to be the old ones but for
// empty ones and the Unreleased one's link, plus one, and the links to be the old ones plus at most two.
func requireSameParts(t *testing.T, before, after []byte) {
	contents, headings, labels := changelog.Parts(before)
	newContents, newHeadings, newLabels := changelog.Parts(after)
	require.Equal(t, contents, newContents)
	fresh := 0
	for _, h := range newHeadings {
		i := slices.Index(headings, h)
		if i < 0 {
			fresh++
			continue
		}
		headings = headings[i+1:]
	}
	require.LessOrEqual(t, fresh, 2, "%q", newHeadings)
	added := len(newLabels) - len(labels)
	require.True(t, added >= 0 && added <= 2, "%q became %q", labels, newLabels)
	for _, l := range newLabels {
		if len(labels) > 0 && l == labels[0] {
			labels = labels[1:]
		}
	}
	require.Empty(t, labels, "links went")
}
