package release

import (
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// R11: without a date it is the day in UTC, and tag and commit have the same one.
func TestDateIsTheDayInUTC(t *testing.T) {
	r := gittest.New(t)
	late := time.Date(2024, 3, 1, 23, 30, 0, 0, time.FixedZone("far west", -10*3600))
	s := settings
	s.Commit = true
	p, err := Prepare(t.Context(), s, Request{Dir: r.Dir, Version: "1.4.0", Now: late})
	require.NoError(t, err)
	_, err = p.Run(t.Context(), new(ear).reporter())
	require.NoError(t, err)
	require.Equal(t, "2024-03-02", p.Date)
	require.Contains(t, r.Read("CHANGELOG.md"), "## [1.4.0] - 2024-03-02\n")
	require.Equal(t, "2024-03-02T09:30:00+00:00", r.Git("for-each-ref", "--format=%(taggerdate:iso8601-strict)", "refs/tags/v1.4.0"))
	require.Equal(t, "2024-03-02T09:30:00+00:00 2024-03-02T09:30:00+00:00", r.Git("log", "-1", "--format=%aI %cI"))
}

// A date that the environment sets for git is git's, not the changelog's.
func TestDateOfTheEnvironment(t *testing.T) {
	r := gittest.New(t)
	t.Setenv("GIT_COMMITTER_DATE", "2020-05-06T07:08:09+02:00")
	s := settings
	p, err := Prepare(t.Context(), s, Request{Dir: r.Dir, Version: "1.4.0", Date: "2024-02-29", Now: time.Now()})
	require.NoError(t, err)
	_, err = p.Run(t.Context(), new(ear).reporter())
	require.NoError(t, err)
	require.Contains(t, r.Read("CHANGELOG.md"), "## [1.4.0] - 2024-02-29\n")
	require.Equal(t, "2020-05-06T07:08:09+02:00", r.Git("for-each-ref", "--format=%(taggerdate:iso8601-strict)", "refs/tags/v1.4.0"))
}
