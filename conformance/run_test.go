package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

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
