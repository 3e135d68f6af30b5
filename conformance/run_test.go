package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/conformance"
	"github.com/agentco/agent/conformance/internal/scenario"
)

// As an author has it: each rule is a subtest.
func TestRun(t *testing.T) {
	conformance.Run(t, []string{filepath.Join(binaries, "provider-bash")}, conformance.Options{Rules: []string{"handshake.*", "schema.*"}})
}

func TestRowsAreToldAsTheyAreDecided(t *testing.T) {
	var told []conformance.Row
	report, err := conformance.Check(t.Context(), []string{filepath.Join(binaries, "provider-bash")}, conformance.Options{
		Rules: []string{"handshake.*", "describe.*"}, Seen: func(row conformance.Row) { told = append(told, row) },
	})
	require.NoError(t, err)
	require.ElementsMatch(t, report.Rows, told)
}

// An interrupted trial ends soon, in whatever it is, and leaves no process.
func TestAnInterruptionEndsATrial(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var once sync.Once
	var interrupted time.Time
	_, err := conformance.Check(ctx, []string{filepath.Join(binaries, "provider-filesystem")}, conformance.Options{
		Scenario: filepath.Join("..", "providers", "filesystem", "conformance.hcl"),
		Seen: func(conformance.Row) {
			once.Do(func() {
				interrupted = time.Now()
				cancel()
			})
		},
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(interrupted), time.Minute)
}

// Nothing of a trial stays behind.
func TestCheckCleansUp(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := conformance.Check(t.Context(), []string{filepath.Join(binaries, "provider-bash")}, conformance.Options{Rules: []string{"handshake.*", "invoke.*"}})
	require.NoError(t, err)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// The provider starts elsewhere: a relative TMPDIR must be the same folder for it.
func TestRelativeTemporaryFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	report, err := conformance.Check(t.Context(), []string{filepath.Join(binaries, "provider-bash")}, conformance.Options{Rules: []string{"describe.ref"}})
	require.NoError(t, err)
	require.Equal(t, 1, report.Count(conformance.Pass), "%v", report.Rows)
}

// The scenario that README shows is one.
func TestScenarioOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, shown)
	s, err := scenario.Parse(shown[1], "README.md")
	require.NoError(t, err)
	require.NotEmpty(t, s.Operations())
	require.Contains(t, s.Waivers(), "handshake.mtls")
}
