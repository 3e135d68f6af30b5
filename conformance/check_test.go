package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), mode))
	return path
}

// What keeps a trial from being made is told apart from a provider that breaks rules.
func TestCheckThatCannotTry(t *testing.T) {
	script := write(t, "provider", "#!/bin/sh\nexit 1\n", 0o755)
	tests := []struct {
		name    string
		command []string
		options Options
		problem string
		start   bool
	}{
		{"no command", nil, Options{}, "no command", false},
		{"not there", []string{"/nowhere/provider"}, Options{}, "no such file", true},
		{"not on the path", []string{"conformance-has-no-such-provider"}, Options{}, "not found", true},
		{"not executable", []string{write(t, "provider", "#!/bin/sh\n", 0o644)}, Options{}, "permission denied", true},
		{"no program", []string{write(t, "provider", "\x01\x02", 0o755)}, Options{}, "exec format error", true},
		{"no such rule", []string{script}, Options{Rules: []string{"nothing.*"}}, "no rule matches", false},
		{"no such scenario", []string{script}, Options{Scenario: "/nowhere.hcl"}, "read the scenario", false},
		{"a scenario that waives no rule", []string{script}, Options{Scenario: write(t, "s.hcl", `waive "handshake.lime" { reason = "sour" }`, 0o644)}, `waives "handshake.lime", which is no rule`, false},
		{"a scenario that cannot be set up", []string{script}, Options{Scenario: write(t, "s.hcl", `setup = [["sh", "-c", "echo broken; exit 3"]]`, 0o644)}, "setup sh -c", false},
		{"no such configuration", []string{script}, Options{Config: "/nowhere.hcl"}, "read the configuration", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Check(t.Context(), test.command, test.options)
			require.ErrorContains(t, err, test.problem)
			var start *StartError
			require.Equal(t, test.start, errors.As(err, &start))
		})
	}
}

// A program that is no provider breaks the first rule, and is not tried further.
func TestCheckOfAProgramThatIsNoProvider(t *testing.T) {
	script := write(t, "provider", "#!/bin/sh\necho Hello\necho I am no provider >&2\nexit 1\n", 0o755)
	report, err := Check(t.Context(), []string{script}, Options{})
	require.NoError(t, err)
	require.False(t, report.OK())
	verdicts := map[string]Row{}
	for _, row := range report.Rows {
		verdicts[row.ID] = row
	}
	require.Len(t, verdicts, len(Rules()))
	require.Equal(t, Fail, verdicts["handshake.line"].Verdict)
	require.Contains(t, verdicts["handshake.line"].Seen, `"Hello" has 1 parts`)
	require.Equal(t, Skipped, verdicts["handshake.version"].Verdict)
	require.Equal(t, Pass, verdicts["handshake.cookie"].Verdict)
	require.Equal(t, Skipped, verdicts["invoke.one-terminal"].Verdict)
	require.Contains(t, verdicts["invoke.one-terminal"].Seen, "could not be started")
}

func TestCheckIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	_, err := Check(ctx, []string{write(t, "provider", "#!/bin/sh\nexec sleep 60\n", 0o755)}, Options{Rules: []string{"handshake.*"}})
	require.ErrorIs(t, err, context.Canceled)
}

// A waiver is for a rule that is broken: it keeps the row from failing, and is reported once it is not needed any more.
func TestWaivers(t *testing.T) {
	script := write(t, "provider", "#!/bin/sh\necho Hello\nexit 1\n", 0o755)
	planned := write(t, "s.hcl", `
waive "handshake.line" { reason = "it is a greeter" }
waive "handshake.cookie" { reason = "none" }
waive "handshake.grpc" { reason = "none" }
`, 0o644)
	report, err := Check(t.Context(), []string{script}, Options{Scenario: planned, Rules: []string{"handshake.*"}})
	require.NoError(t, err)
	require.True(t, report.OK())
	rows := map[string]Row{}
	for _, row := range report.Rows {
		rows[row.ID] = row
	}
	require.Equal(t, Skipped, rows["handshake.line"].Verdict)
	require.Contains(t, rows["handshake.line"].Seen, "waived: it is a greeter (")
	require.Equal(t, Warn, rows["handshake.cookie"].Verdict)
	require.Contains(t, rows["handshake.cookie"].Seen, "its waiver can go")
	require.Equal(t, Skipped, rows["handshake.grpc"].Verdict)
	require.NotContains(t, rows["handshake.grpc"].Seen, "waived")
}
