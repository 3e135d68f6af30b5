package changelog_test

import (
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/forge"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
	"github.com/stretchr/testify/require"
)

func parse(t testing.TB, src string) *changelog.Document {
	t.Helper()
	d, err := changelog.Parse("CHANGELOG.md", []byte(src))
	require.NoError(t, err)
	return d
}

func byForge(url string) (compare, tag string) {
	pages, _ := forge.Page(url)
	return pages.Compare, pages.Tag
}

// release is the release of a version after another, "" for the first, in a repository nothing is known about.
func release(t testing.TB, version, previous string) changelog.Release {
	t.Helper()
	v, err := semver.Parse(version)
	require.NoError(t, err)
	rel := changelog.Release{Version: v, Tag: "v" + version, Date: "2026-11-30", Links: changelog.Links{Forge: byForge}}
	if previous != "" {
		rel.Previous = "v" + previous
	}
	return rel
}

func promote(t testing.TB, src string, rel changelog.Release) changelog.Promotion {
	t.Helper()
	p, err := parse(t, src).Promote(rel)
	require.NoError(t, err)
	return p
}

func labels(d *changelog.Document) []string {
	var out []string
	for _, s := range d.Sections {
		if !s.Unreleased {
			out = append(out, s.Label)
		}
	}
	return out
}
