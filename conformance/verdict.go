package conformance

// Verdict is what became of a rule.
type Verdict string

// Verdicts. Warn is a broken SHOULD. Skipped says in Row.Seen why the rule could not be tried, or who waived it.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Warn    Verdict = "warn"
	Skipped Verdict = "skipped"
)
