package conformance_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/conformance"
	"github.com/agentco/agent/conformance/internal/scenario"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The first-party providers hold to every rule that can be tried on them, without a waiver.
func TestFirstPartyProviders(t *testing.T) {
	for _, name := range []string{"filesystem", "bash", "release-tools"} {
		t.Run(name, func(t *testing.T) {
			planned := filepath.Join("..", "providers", name, "conformance.hcl")
			s, err := scenario.Read(planned)
			require.NoError(t, err)
			require.Empty(t, s.Waivers())
			require.ElementsMatch(t, offered(t, name), s.Operations(), "the scenario calls every operation")

			report, err := conformance.Check(t.Context(), []string{filepath.Join(binaries, "provider-"+name)}, conformance.Options{Scenario: planned, Timeout: busy})
			require.NoError(t, err)
			require.Contains(t, report.Provider, name)
			for _, row := range report.Rows {
				if row.Verdict == conformance.Fail || row.Verdict == conformance.Warn {
					t.Errorf("%s: %s", row.ID, row.Seen)
				}
			}
			for _, needed := range []string{"scenario.expected", "cancel.report", "cancel.time", "context.directory", "preview.pure", "render.result", "parent.death"} {
				row := rowOf(t, report, needed)
				for tries := 0; row.Verdict == conformance.Skipped && tries < 20; tries++ { // on a busy machine a cancellation may come too late
					again, err := conformance.Check(t.Context(), []string{filepath.Join(binaries, "provider-"+name)},
						conformance.Options{Scenario: planned, Timeout: busy, Rules: []string{needed}})
					require.NoError(t, err)
					row = rowOf(t, again, needed)
				}
				require.Equal(t, conformance.Pass, row.Verdict, "%s: %s", needed, row.Seen)
			}
		})
	}
}

func rowOf(t *testing.T, r conformance.Report, id string) conformance.Row {
	t.Helper()
	for _, row := range r.Rows {
		if row.ID == id {
			return row
		}
	}
	t.Fatalf("there is no row of %s", id)
	return conformance.Row{}
}

// offered are the names of a provider's operations.
func offered(t *testing.T, name string) (names []string) {
	p := launch(t, name, t.TempDir())
	if tools, err := p.Tools.GetSchema(t.Context(), &toolv1.GetSchemaRequest{}); err == nil {
		for _, tool := range tools.GetTools() {
			names = append(names, tool.GetName())
		}
	}
	if commands, err := p.Commands.GetCapabilities(t.Context(), &slashcommandv1.GetCapabilitiesRequest{}); err == nil {
		for _, command := range commands.GetCommands() {
			names = append(names, command.GetName())
		}
	}
	return names
}
