package cli

import (
	"encoding/json"
	"io"

	"github.com/agentco/agent/conformance"
)

// writeJSON writes a report as one object.
func writeJSON(w io.Writer, r conformance.Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		OK     bool                        `json:"ok"`
		Counts map[conformance.Verdict]int `json:"counts"`
		TookMS int64                       `json:"took_ms"`
		conformance.Report
	}{r.OK(), counts(r), r.Took.Milliseconds(), r})
}

var verdicts = []conformance.Verdict{conformance.Pass, conformance.Fail, conformance.Warn, conformance.Skipped}

func counts(r conformance.Report) map[conformance.Verdict]int {
	out := map[conformance.Verdict]int{}
	for _, v := range verdicts {
		out[v] = r.Count(v)
	}
	return out
}
