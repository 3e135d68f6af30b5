package conformance

import "time"

// Row is what was seen of one rule.
type Row struct {
	Rule
	Verdict Verdict `json:"verdict"`
	// Seen says what was tried, what broke the rule, or why it was skipped.
	Seen string `json:"seen"`
}

// Report holds one row for each selected rule, in the order of the catalogue.
type Report struct {
	// Command is what was started.
	Command []string `json:"command"`
	// Provider is the name and version that it gave, empty when it gave none.
	Provider string `json:"provider"`
	// Foreign is what announces nothing: of the rows only handshake.line was tried.
	Foreign bool  `json:"foreign,omitempty"`
	Rows    []Row `json:"rows"`
	// Uncalled says which operations were not called, and what would let them be.
	Uncalled []string      `json:"uncalled,omitempty"`
	Took     time.Duration `json:"-"`
}

// OK reports whether no MUST and no MUST NOT is broken.
func (r Report) OK() bool { return r.Count(Fail) == 0 }

// Count is how many rows have a verdict.
func (r Report) Count(v Verdict) (n int) {
	for _, row := range r.Rows {
		if row.Verdict == v {
			n++
		}
	}
	return n
}
