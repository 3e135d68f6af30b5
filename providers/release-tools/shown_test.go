package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/stretchr/testify/require"
)

// What others commit while a person decides does not make another version of what was approved, and is told.
func TestReleaseIsHeldToWhatWasShown(t *testing.T) {
	r := gittest.New(t)
	prepare := func() *release.Plan {
		plan, err := release.Prepare(t.Context(), release.Settings{Changelog: "CHANGELOG.md", TagPrefix: "v", TagMessage: "x", CommitMessage: "x"},
			release.Request{Dir: r.Dir, Version: release.Auto, Now: time.Now()})
		require.NoError(t, err)
		return plan
	}
	var s shown
	first := prepare()
	for _, id := range []string{"declined", "same", "moved", "other", "given"} {
		s.remember(id, release.Auto, first)
	}
	same := prepare()
	require.NoError(t, s.hold("same", release.Auto, same))
	require.Empty(t, same.Warnings)

	commit(r, "fix: meanwhile")
	moved := prepare()
	require.NoError(t, s.hold("moved", release.Auto, moved))
	require.Equal(t, []string{fmt.Sprintf("HEAD was at %.7s when this release was shown, and is at %.7s now", first.Head, moved.Head)}, moved.Warnings)

	commit(r, "feat!: meanwhile")
	err := s.hold("other", release.Auto, prepare())
	require.ErrorContains(t, err, "auto came to 1.4.0 when this release was shown, and comes to 2.0.0 now")
	require.NoError(t, s.hold("other", release.Auto, prepare()), "once")
	require.NoError(t, s.hold("given", "2.0.0", prepare()), "instead")
	require.NoError(t, s.hold("never shown", release.Auto, prepare()))

	for i := range mostRemembered {
		s.remember(fmt.Sprint(i), release.Auto, first)
	}
	require.LessOrEqual(t, len(s.plans), mostRemembered)
}
