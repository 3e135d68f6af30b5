package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		{"a directory", []string{t.TempDir()}, Options{}, "is a directory", true},
		{"no interpreter", []string{write(t, "provider", "#!/does/not/exist\n", 0o755)}, Options{}, "the interpreter that it names is not there", true},
		{"not executable", []string{write(t, "provider", "#!/bin/sh\n", 0o644)}, Options{}, "chmod +x", true},
		{"no program", []string{write(t, "provider", "\x01\x02", 0o755)}, Options{}, "built for another machine", true},
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
	require.Equal(t, Skipped, verdicts["handshake.cookie"].Verdict, "what is no provider earns nothing by ending")
	require.Equal(t, Skipped, verdicts["invoke.one-terminal"].Verdict)
	require.Contains(t, verdicts["invoke.one-terminal"].Seen, "could not be used")
}

// Whatever rules are selected, a provider that cannot be tried does not pass: the row that says why is there too.
func TestCheckOfFewRulesOnWhatCannotBeUsed(t *testing.T) {
	tests := []struct{ name, script, rule, seen string }{
		{"no provider", "echo Hello", "handshake.line", `"Hello" has 1 parts`},
		{"a line without an end", "printf '1|1|unix|/nowhere|grpc|'; exec sleep 60", "handshake.line", "no newline at its end"},
		{"nobody at the address", "echo '1|1|unix|/nowhere|grpc|'; exec sleep 60", "handshake.line", "cannot be dialled"},
		{"net/rpc", "echo '1|1|unix|/nowhere|netrpc|'; exec sleep 60", "handshake.line", "cannot be dialled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			script := write(t, "provider", "#!/bin/sh\n"+test.script+"\n", 0o755)
			report, err := Check(t.Context(), []string{script}, Options{Rules: []string{"invoke.*", "cancel.time"}, Timeout: 15 * time.Second})
			require.NoError(t, err)
			require.False(t, report.OK())
			require.Equal(t, test.rule, report.Rows[0].ID)
			require.Equal(t, Fail, report.Rows[0].Verdict)
			require.Contains(t, report.Rows[0].Seen, test.seen)
			require.Len(t, report.Rows, 5)
			for _, row := range report.Rows[1:] {
				require.Equal(t, Skipped, row.Verdict)
			}
		})
	}
}

// Nothing that a provider starts outlives the trial, not even what fled from its family.
func TestCheckLeavesNoProcess(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	script := write(t, "provider", "#!/bin/sh\nsetsid sh -c 'echo $$ >>"+note+"; exec sleep 600' </dev/null >/dev/null 2>&1 &\nwhile ! [ -s "+note+" ]; do :; done\necho Hello\n", 0o755)
	_, err := Check(t.Context(), []string{script}, Options{Rules: []string{"handshake.line"}})
	require.NoError(t, err)
	text, err := os.ReadFile(note)
	require.NoError(t, err)
	for _, pid := range strings.Fields(string(text)) {
		require.Eventually(t, func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, time.Minute, 10*time.Millisecond, "process %s", pid)
	}
}

func TestCheckIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	_, err := Check(ctx, []string{write(t, "provider", "#!/bin/sh\nexec sleep 60\n", 0o755)}, Options{Rules: []string{"handshake.*"}})
	require.ErrorIs(t, err, context.Canceled)
}

// Also a start that takes for ever ends with the trial.
func TestCheckIsInterruptedWhileItStarts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := filepath.Join(t.TempDir(), "begun")
	script := write(t, "provider", "#!/bin/sh\n: >"+begun+"\nexec sleep 600\n", 0o755)
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			if _, err := os.Stat(begun); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
		}
	}()
	_, err := Check(ctx, []string{script}, Options{Timeout: time.Hour})
	require.ErrorIs(t, err, context.Canceled)
}

// A waiver is for a rule that is broken: it keeps the row from failing, and is reported once it is not needed any more.
func TestWaivers(t *testing.T) {
	script := write(t, "provider", "#!/bin/sh\necho Hello\nexit 1\n", 0o755)
	planned := write(t, "s.hcl", `
waive "handshake.line" { reason = "it is a greeter" }
waive "handshake.grpc" { reason = "none" }
waive "category.served" { reason = "none" }
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
	require.Equal(t, Skipped, rows["handshake.grpc"].Verdict)
	require.NotContains(t, rows["handshake.grpc"].Seen, "waived")
}

func TestWaiverOfARuleThatHolds(t *testing.T) {
	planned := write(t, "s.hcl", `waive "handshake.cookie" { reason = "none" }`, 0o644)
	report, err := Check(t.Context(), []string{os.Args[0], "fixture"}, Options{Scenario: planned, Rules: []string{"handshake.cookie"}})
	require.NoError(t, err)
	require.Len(t, report.Rows, 1)
	require.Equal(t, Warn, report.Rows[0].Verdict)
	require.Contains(t, report.Rows[0].Seen, "its waiver can go")
}
