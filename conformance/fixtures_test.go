package conformance_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/conformance"
	"github.com/agentco/agent/conformance/internal/fixture/fault"
)

const (
	// actAsFixture is the argument with which the test binary is a provider.
	actAsFixture = "fixture"
	// chosen is the variable with a glob of the faults to try, such as 'cancel.*', or '*' for all. Without it there is one for
	// each rule, which takes half the time.
	chosen = "CONFORMANCE_FAULTS"
	// trials is how many providers are tried at once: most of a trial is waiting for what must not come.
	trials = 6
)

// busy is how long a step of a provider may take that is to hold to every rule, on a machine that does much else. Only what
// goes wrong takes as long.
const busy = time.Minute

// try holds the fixture to every rule: the reference when the fault is empty.
func try(t *testing.T, name string) (conformance.Report, error) {
	command := []string{os.Args[0], actAsFixture}
	if name != "" {
		command = append(command, "--fault", name)
	}
	options := conformance.Options{Scenario: filepath.Join("internal", "fixture", "scenario.hcl"), AllowMutations: true}
	if name == "" {
		options.Timeout = busy
	}
	return conformance.Check(t.Context(), command, options)
}

// untried are rules that have nothing to look at in the reference; that is no hole, since a fault gives them something.
var untried = map[string]string{
	"concurrency.interactive": "it asks no person",
	"hooks.valid":             "it has no hook points",
}

func TestTheReferencePassesEveryRule(t *testing.T) {
	report, err := try(t, "")
	require.NoError(t, err)
	require.Equal(t, "fixture 1.0.0", report.Provider)
	require.Len(t, report.Rows, len(conformance.Rules()))
	for _, row := range report.Rows {
		expected := conformance.Pass
		if untried[row.ID] != "" {
			expected = conformance.Skipped
		}
		require.Equal(t, expected, row.Verdict, "%s: %s", row.ID, row.Seen)
	}
}

func TestEachFaultIsSeenByExactlyTheRulesThatItBreaks(t *testing.T) {
	t.Setenv(fault.Needed, "yes")
	free := make(chan struct{}, trials)
	type outcome struct {
		report conformance.Report
		err    error
	}
	outcomes := map[string]chan outcome{}
	faults := oneForEachRule(fault.All())
	if glob := os.Getenv(chosen); glob != "" {
		faults = slices.DeleteFunc(fault.All(), func(f fault.Fault) bool {
			ok, err := path.Match(glob, f.Name)
			return err == nil && !ok
		})
	}
	for _, f := range faults {
		done := make(chan outcome, 1)
		outcomes[f.Name] = done
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			report, err := try(t, f.Name)
			done <- outcome{report, err}
		}()
	}
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			out := <-outcomes[f.Name]
			if f.Refused != "" {
				require.ErrorContains(t, out.err, f.Refused)
				return
			}
			require.NoError(t, out.err)
			var broken []string
			for _, row := range out.report.Rows {
				if row.Verdict == conformance.Fail || row.Verdict == conformance.Warn {
					if slices.Contains(f.Sometimes, row.ID) {
						continue
					}
					broken = append(broken, row.ID)
					t.Logf("%s: %s", row.ID, row.Seen)
				}
			}
			require.ElementsMatch(t, f.Breaks, broken, f.Does)
		})
	}
}

// oneForEachRule leaves out the faults that break nothing which others do not: it takes what breaks a rule alone, or else
// what breaks fewest others.
func oneForEachRule(all []fault.Fault) (some []fault.Fault) {
	byBreadth := slices.Clone(all)
	slices.SortStableFunc(byBreadth, func(a, b fault.Fault) int { return len(a.Breaks) - len(b.Breaks) })
	broken := map[string]bool{}
	for _, f := range byBreadth {
		if slices.ContainsFunc(f.Breaks, func(id string) bool { return !broken[id] }) {
			some = append(some, f)
		}
		for _, id := range f.Breaks {
			broken[id] = true
		}
	}
	return some
}

func TestEachRuleHasAFaultThatBreaksIt(t *testing.T) {
	broken, names := map[string]bool{}, map[string]bool{}
	for _, f := range fault.All() {
		require.False(t, names[f.Name], "there are two faults %s", f.Name)
		names[f.Name] = true
		for _, id := range f.Breaks {
			broken[id] = true
		}
	}
	for _, rule := range conformance.Rules() {
		require.True(t, broken[rule.ID], "no fault breaks %s", rule.ID)
		delete(broken, rule.ID)
	}
	require.Empty(t, broken, "rules that the catalogue does not have")
}
