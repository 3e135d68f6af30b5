package changelog_test

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"
)

// lineDiff returns the lines that were removed and those that were added, with their endings.
func lineDiff(before, after string) (removed, added []string) {
	u, err := udiff.ToUnifiedDiff("a", "b", before, udiff.Lines(before, after), 0)
	if err != nil {
		panic(err)
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Delete:
				removed = append(removed, l.Content)
			case udiff.Insert:
				added = append(added, l.Content)
			}
		}
	}
	return removed, added
}

// requireOnlyReleaseLines holds a promotion to its promise: what went is empty category headings, blank lines and link
// lines; what came is one heading, blank lines and link lines. The byte order mark and CRLF endings are as they were.
func requireOnlyReleaseLines(t testing.TB, before, after string) {
	t.Helper()
	require.Equal(t, strings.HasPrefix(before, "\ufeff"), strings.HasPrefix(after, "\ufeff"))
	if onlyCRLF(before) {
		require.True(t, onlyCRLF(after), "a bare LF came into a CRLF file")
	}
	if !strings.HasSuffix(before, "\n") || !strings.HasSuffix(after, "\n") { // the last line may get an ending or lose it
		before, after = unixLines(before), unixLines(after)
	}
	removed, added := lineDiff(before, after)
	headings, links := changelog.LinesOf([]byte(before))
	for _, l := range removed {
		require.True(t, strings.TrimSpace(l) == "" || headings[l] || links[l], "removed %q", l)
	}
	headings, links = changelog.LinesOf([]byte(after))
	for _, l := range added {
		require.True(t, strings.TrimSpace(l) == "" || headings[l] || links[l], "added %q", l)
	}
}

func unixLines(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + "\n"
}

func onlyCRLF(text string) bool {
	return strings.Contains(text, "\n") && !strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n")
}
