package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentco/agent/conformance"
)

// list prints the catalogue.
func list(w io.Writer, f flags) error {
	rules, err := conformance.Select(f.options.Rules)
	if err != nil {
		return err
	}
	if f.json {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(rules)
	}
	for _, r := range rules {
		if _, err := fmt.Fprintf(w, "%s (%s)\n  %s\n  %s: %q\n", r.ID, r.Level, r.Title, r.Section, r.Sentence); err != nil {
			return err
		}
	}
	return nil
}
