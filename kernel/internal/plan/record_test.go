package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// K29: a plan is applied once, whoever tries.
func TestClaim(t *testing.T) {
	store := Store{filepath.Join(t.TempDir(), "state", "plans")}
	p := sample(t)
	r, err := store.Claim(p)
	require.NoError(t, err)
	var applied *AppliedError
	_, err = store.Claim(p)
	require.ErrorAs(t, err, &applied)
	require.True(t, applied.Running)
	require.NoError(t, r.Close())

	r, err = store.Claim(p)
	require.NoError(t, err, "nothing of it has begun")
	require.NoError(t, r.Began("one"))
	require.NoError(t, r.Ended("one", "completed"))
	require.NoError(t, r.Began("two"))
	require.NoError(t, r.Close()) // as when the process was killed

	_, err = store.Claim(p)
	require.ErrorAs(t, err, &applied)
	require.False(t, applied.Running)
	require.False(t, applied.Whole)
	require.Equal(t, []Trace{{"one", "completed"}, {"two", ""}}, applied.Calls)
	require.Contains(t, err.Error(), "already-applied: this plan was applied at ")
	require.Contains(t, err.Error(), "(one: completed; two: had begun, nobody saw its end) and cut off then; other calls of it did not run. Make a new plan")

	_, err = store.Claim(sample(t))
	require.NoError(t, err, "another plan of the same calls")
}

func TestClaimOfWhatWasAppliedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	p := sample(t)
	r, err := Store{dir}.Claim(p)
	require.NoError(t, err)
	require.NoError(t, r.Began("one"))
	require.NoError(t, r.Ended("one", "failed"))
	require.NoError(t, r.Ended("two", "skipped"))
	require.NoError(t, r.Applied())
	require.NoError(t, r.Close())
	_, err = Store{dir}.Claim(p)
	var applied *AppliedError
	require.ErrorAs(t, err, &applied)
	require.True(t, applied.Whole)
	require.Equal(t, []Trace{{"one", "failed"}}, applied.Calls, "what did not begin did not run")
	info, err := os.Stat(filepath.Join(dir, p.ID+".jsonl"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestClaimWithAHalfLine(t *testing.T) {
	dir := t.TempDir()
	p := sample(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, p.ID+".jsonl"), []byte("{\"at\":\"2026-01-01T00:00:00Z\"}\n{\"at\":\"2026-01-01T00:00:00Z\",\"call\":\"on"), 0o600))
	r, err := Store{dir}.Claim(p)
	require.NoError(t, err, "the call waits until its line is whole")
	require.NoError(t, r.Close())
}

// A name may be as long as anybody likes, and its plan is still applied once.
func TestClaimOfAVeryLongName(t *testing.T) {
	store, p, name := Store{t.TempDir()}, sample(t), strings.Repeat("n", 1<<20)
	r, err := store.Claim(p)
	require.NoError(t, err)
	require.NoError(t, r.Began(name))
	require.NoError(t, r.Close())
	_, err = store.Claim(p)
	var applied *AppliedError
	require.ErrorAs(t, err, &applied)
	require.Equal(t, []Trace{{Call: name}}, applied.Calls)
}

func TestNoClaimWithoutARecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Store{file}.Claim(sample(t))
	require.ErrorContains(t, err, "without one it could be applied twice")
}
