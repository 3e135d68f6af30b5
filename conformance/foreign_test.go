package conformance_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/conformance"
)

// program writes a script that can be started.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

// What is no provider earns nothing for what it does not do: one row says why, and the rest is not tried.
func TestWhatDoesNotStartAsAProvider(t *testing.T) {
	fixture := func(fault string) []string { return []string{os.Args[0], actAsFixture, "--fault", fault} }
	tests := []struct {
		name    string
		command []string
		seen    string
	}{
		{"panics", fixture("handshake.line.panic"), "it printed no line on stdout, and it ended (exit status 2): panic: no database"},
		{"ends with a reason", fixture("handshake.line.silent"), "it ended (exit status 3): fixture: cannot open its database"},
		{"another program", []string{"/bin/ls"}, "it ended (exit status 0)"},
		{"an interpreter that is not there", []string{program(t, "#!/usr/bin/env no-such-interpreter\n")}, "it ended (exit status 127): "},
		{"a trace of Python", []string{program(t, "#!/bin/sh\nprintf 'Traceback (most recent call last):\\n  File \"a.py\", line 1\\nImportError: no grpc\\n' >&2\nexit 1\n")}, "it ended (exit status 1): ImportError: no grpc"},
		{"greets and waits", []string{program(t, "#!/bin/sh\necho Hello\nexec sleep 60\n")}, "is no handshake"},
		{"ended by a signal", []string{program(t, "#!/bin/sh\nkill -9 $$\n")}, "it ended (signal: killed)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report, err := conformance.Check(t.Context(), test.command, conformance.Options{Timeout: 30 * time.Second})
			require.NoError(t, err)
			require.True(t, report.Foreign)
			require.Len(t, report.Rows, len(conformance.Rules()))
			for _, row := range report.Rows {
				if row.ID == "handshake.line" {
					require.Equal(t, conformance.Fail, row.Verdict)
					require.Contains(t, row.Seen, test.seen)
					continue
				}
				require.Equal(t, conformance.Skipped, row.Verdict, row.ID)
			}
		})
	}
}

// A silent program costs one start, not one for each way of starting.
func TestASilentProgramIsWaitedForOnce(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	silent := program(t, "#!/bin/sh\necho once >>"+starts+"\nexec sleep 60\n")
	report, err := conformance.Check(t.Context(), []string{silent}, conformance.Options{Timeout: 2 * time.Second})
	require.NoError(t, err)
	require.True(t, report.Foreign)
	require.Contains(t, report.Rows[0].Seen, "nothing on stdout within 2s, and it still runs")
	text, _ := os.ReadFile(starts) // not there when this machine takes longer to start a shell than the program is waited for
	require.LessOrEqual(t, len(text), len("once\n"))
}

// A missing interpreter in a script's first line is no fault of a provider: nothing was started.
func TestAScriptOfNoInterpreter(t *testing.T) {
	_, err := conformance.Check(t.Context(), []string{program(t, "#!/no/such/interpreter\n")}, conformance.Options{})
	var start *conformance.StartError
	require.ErrorAs(t, err, &start)
	require.ErrorContains(t, err, "the interpreter that it names is not there")
}

// A scenario that does not speak of this provider is a slip of its author, and said before anything is called.
func TestAScenarioOfAnotherProvider(t *testing.T) {
	tests := []struct {
		name, text, problem string
	}{
		{"an operation", "\ncall \"surveys\" \"all\" {\n  expect = \"result\"\n}\n", `:2: no operation "surveys"; there are `},
		{"an attribute", "config {\n  tokn = \"a-secret-of-ours\"\n}\n", `:2: no attribute "tokn"; there are `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.hcl")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o644))
			_, err := conformance.Check(t.Context(), []string{os.Args[0], actAsFixture}, conformance.Options{Scenario: path})
			require.ErrorContains(t, err, path+test.problem)
			require.ErrorContains(t, err, "did you mean ")
		})
	}
}

// Without a scenario the report says what nothing called, whatever rules were chosen.
func TestUncalledOperationsAreNamed(t *testing.T) {
	report, err := conformance.Check(t.Context(), []string{os.Args[0], actAsFixture}, conformance.Options{Rules: []string{"describe.*"}})
	require.NoError(t, err)
	require.Contains(t, report.Uncalled, "write_note was not called: it changes something; --allow-mutations or a scenario lets it be called")

	report, err = conformance.Check(t.Context(), []string{os.Args[0], actAsFixture}, conformance.Options{Rules: []string{"describe.*"}, AllowMutations: true})
	require.NoError(t, err)
	require.NotContains(t, report.Uncalled, "write_note was not called: it changes something; --allow-mutations or a scenario lets it be called")
}

// A certificate that is no good says so in the row that it breaks.
func TestCauseOfACertificateThatIsNoGood(t *testing.T) {
	tests := []struct{ name, rule, seen string }{
		{"handshake.mtls.padded", "handshake.mtls", "leave the padding away"},
		{"handshake.mtls.nameless", "handshake.mtls", "it does not answer over mutual TLS: tls: failed to verify certificate: x509: "},
		{"cancel.report.certificate", "cancel.report", "was refused: tls: failed to verify certificate: x509: certificate specifies an incompatible key usage"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report, err := try(t, test.name)
			require.NoError(t, err)
			for _, row := range report.Rows {
				if row.ID == test.rule {
					require.Equal(t, conformance.Fail, row.Verdict)
					require.Contains(t, row.Seen, test.seen)
				}
			}
		})
	}
}

// The end of the process in a call is told once, with its reason; transport errors are told nowhere.
func TestADeathIsToldOnce(t *testing.T) {
	report, err := try(t, "invoke.one-terminal.panics")
	require.NoError(t, err)
	for _, row := range report.Rows {
		require.NotContains(t, row.Seen, "transport", row.ID)
		if row.ID == "invoke.one-terminal" {
			require.Contains(t, row.Seen, "the provider's process ended (exit status 2) in survey (")
			require.Contains(t, row.Seen, "panic: index out of range")
		}
		if row.ID == "scenario.expected" {
			require.Equal(t, conformance.Skipped, row.Verdict)
			require.Contains(t, row.Seen, "see invoke.one-terminal")
		}
	}
}
