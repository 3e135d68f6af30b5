//go:build unix

package release

import (
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/stretchr/testify/require"
)

// Two releases at once: one is made, and the other finds it under way or made, and leaves nothing.
func TestReleaseWhileAnotherIsUnderWay(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			r := s.lay(t)
			other, err := repo.Open(t.Context(), r.Dir, time.Now())
			require.NoError(t, err)
			before := r.Snapshot()
			unlock, err := other.Lock()
			require.NoError(t, err)
			attempt := func() error {
				if s.undo {
					u, err := PrepareUndo(t.Context(), s.settings(), r.Dir, "1.4.0", time.Now())
					require.NoError(t, err)
					_, err = u.Run(t.Context(), new(ear).reporter())
					return err
				}
				_, err := s.plan(t, r.Dir).Run(t.Context(), new(ear).reporter())
				return err
			}
			var refused *refusal.Error
			require.ErrorAs(t, attempt(), &refused)
			require.Equal(t, "release-underway", refused.Kind)
			require.Equal(t, before, r.Snapshot())
			unlock()
			require.NoError(t, attempt())
		})
	}
}

// Half of a release that is being made is not called interrupted.
func TestPrepareWhileAnotherIsHalfMade(t *testing.T) {
	s := scene{"release", false, false}
	r := s.lay(t)
	p := s.plan(t, r.Dir)
	e := ear{on: func(heard string) {
		if heard != "rewriting CHANGELOG.md" {
			return
		}
		var refused *refusal.Error
		_, err := Prepare(t.Context(), s.settings(), Request{Dir: r.Dir, Version: "1.4.0", Now: time.Now()})
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "release-underway", refused.Kind)
	}}
	_, err := p.Run(t.Context(), e.reporter())
	require.NoError(t, err)
	require.Contains(t, e.status, "rewriting CHANGELOG.md")
}
