package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/conformance"
)

var update = flag.Bool("update", false, "write the goldens anew")

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"conformance": func() { os.Exit(Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// TestScripts plays the command as a user has it; each script is one topic.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "script"), UpdateScripts: *update})
}

// report has a row of each verdict, and text that a terminal or an XML file must not get as it is.
func report() conformance.Report {
	row := func(i int, v conformance.Verdict, seen string) conformance.Row {
		return conformance.Row{Rule: conformance.Rules()[i], Verdict: v, Seen: seen}
	}
	return conformance.Report{
		Command: []string{"/bin/provider-hello", "--quick"}, Provider: "hello 1.2.3", Took: 1234 * time.Millisecond,
		Rows: []conformance.Row{
			row(0, conformance.Pass, "grpc on unix"),
			row(1, conformance.Fail, "it announces version 2"),
			row(5, conformance.Warn, "it says \x1b[31mnothing\x07 & <that> is not all\nof it"),
			row(6, conformance.Skipped, "waived: it needs a display (it starts not)"),
		},
	}
}

func TestReports(t *testing.T) {
	tests := []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"table.txt", func(b *bytes.Buffer) error { return newTable(b, false).write(report()) }},
		{"table-verbose.txt", func(b *bytes.Buffer) error { return newTable(b, true).write(report()) }},
		{"table-terminal.txt", func(b *bytes.Buffer) error {
			t := newTable(b, false)
			t.colour, t.width = true, 60
			return t.write(report())
		}},
		{"report.json", func(b *bytes.Buffer) error { return writeJSON(b, report()) }},
		{"report.xml", func(b *bytes.Buffer) error { return writeJUnit(b, report()) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got bytes.Buffer
			require.NoError(t, test.write(&got))
			golden := filepath.Join("testdata", "golden", test.name)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got.String())
		})
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		name    string
		args    []string
		want    flags
		problem string
	}{
		{"a provider", []string{"./p"}, flags{command: []string{"./p"}}, ""},
		{"the provider's own flags", []string{"--json", "./p", "--json", "-v"}, flags{command: []string{"./p", "--json", "-v"}, json: true}, ""},
		{"rules", []string{"--rule", "a.*", "--rule=b.*", "./p"}, flags{command: []string{"./p"}, options: conformance.Options{Rules: []string{"a.*", "b.*"}}}, ""},
		{"a list", []string{"--list"}, flags{list: true, command: []string{}}, ""},
		{"nothing", nil, flags{}, "name the provider"},
		{"a list and a provider", []string{"--list", "./p"}, flags{}, "--list starts no provider"},
		{"no time", []string{"--timeout", "0s", "./p"}, flags{}, "above zero"},
		{"an unknown flag", []string{"--quick", "./p"}, flags{}, "not defined"},
		{"help", []string{"--help"}, flags{}, "help was asked for"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parse(test.args)
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			test.want.options.Timeout = 10 * time.Second
			require.Equal(t, test.want, got)
		})
	}
}

func TestExitCodes(t *testing.T) {
	greeter := filepath.Join(t.TempDir(), "greeter")
	require.NoError(t, os.WriteFile(greeter, []byte("#!/bin/sh\necho Hello\nexit 1\n"), 0o755))
	waived := filepath.Join(t.TempDir(), "waived.hcl")
	require.NoError(t, os.WriteFile(waived, []byte("waive \"handshake.line\" {\n  reason = \"it greets\"\n}\n"), 0o644))
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		args []string
		want int
	}{
		{"help", t.Context(), []string{"-h"}, exitHolds},
		{"a rule that is waived", t.Context(), []string{"--rule", "handshake.line", "--scenario", waived, greeter}, exitHolds},
		{"a rule that could not be tried", t.Context(), []string{"--rule", "handshake.cookie", greeter}, exitBroken},
		{"a rule that is broken", t.Context(), []string{"--rule", "handshake.line", greeter}, exitBroken},
		{"a rule that is broken, as JSON", t.Context(), []string{"--rule", "handshake.line", "--json", greeter}, exitBroken},
		{"wrong usage", t.Context(), []string{"--timeout", "soon", greeter}, exitUsage},
		{"no scenario", t.Context(), []string{"--scenario", "nowhere.hcl", greeter}, exitUsage},
		{"no such rule", t.Context(), []string{"--list", "--rule", "nothing"}, exitUsage},
		{"no program", t.Context(), []string{t.TempDir()}, exitStart},
		{"interrupted", interrupted, []string{"--rule", "handshake.line", greeter}, exitInterrupted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, test.want, Main(test.ctx, test.args, &stdout, &stderr), stderr.String())
			require.Equal(t, test.want >= exitUsage, stderr.Len() > 0, "stderr has what went wrong, and nothing else")
		})
	}
}

// leakChecked fails a run that leaves goroutines behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return code
}
