package conformance

import "testing"

// Run tries a provider and makes each rule a subtest, so that a provider in Go is held to the protocol by its own tests:
//
//	func TestConformance(t *testing.T) {
//		binary := filepath.Join(t.TempDir(), "provider-hello")
//		out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
//		if err != nil {
//			t.Fatalf("build: %v\n%s", err, out)
//		}
//		conformance.Run(t, []string{binary}, conformance.Options{Scenario: "conformance.hcl"})
//	}
//
// A broken SHOULD is logged; it fails nothing.
func Run(t *testing.T, command []string, o Options) {
	t.Helper()
	report, err := Check(t.Context(), command, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range report.Uncalled {
		t.Log(text)
	}
	for _, row := range report.Rows {
		t.Run(row.ID, func(t *testing.T) {
			switch row.Verdict {
			case Fail:
				t.Errorf("%s %s\nseen: %s\nsource: %s: %q", row.Level, row.Title, row.Seen, row.Section, row.Sentence)
			case Skipped:
				t.Skip(row.Seen)
			case Warn:
				t.Logf("warning: %s %s\nseen: %s", row.Level, row.Title, row.Seen)
			default:
				t.Log(row.Seen)
			}
		})
	}
}
