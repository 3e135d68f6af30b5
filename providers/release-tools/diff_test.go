package main

import (
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// A diff that no message carries is left out: the release, which stands, is not said to have failed.
func TestChangesWithADiffTooLargeToTell(t *testing.T) {
	for _, commits := range []bool{false, true} {
		r := gittest.New(t)
		r.Write("CHANGELOG.md", strings.Replace(gittest.Changelog, "- Add", "- "+strings.Repeat("long ", 1<<20)+"\n- Add", 1))
		r.Commit("docs: a long line")
		h := start(t, r, map[string]any{"commit": commits})
		require.Empty(t, run(t, h, "changelog-add", map[string]any{"section": "Added", "entry": "Late"}).Result["diff"])
		made := run(t, h, "release", version140).Result
		require.Equal(t, "v1.4.0", made["tag"])
		require.Empty(t, made["diff"])
		tree, err := h.Render(t.Context(), made)
		require.NoError(t, err)
		require.Contains(t, tree.String(), "too large to show")
		require.Equal(t, "v1.4.0", run(t, h, "release-undo", undo140).Result["tag"])
	}
}
