package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/agentco/agent/conformance"
)

// progress says on a terminal how far the trial is. Elsewhere it says nothing.
type progress struct {
	w     io.Writer // nil when nobody watches
	total int
	done  int
}

func newProgress(w io.Writer, f flags) *progress {
	// What the provider prints would run into the line.
	if f.verbose || width(w) == 0 || os.Getenv("TERM") == "dumb" {
		return &progress{}
	}
	rules, _ := conformance.Select(f.options.Rules)
	return &progress{w: w, total: len(rules)}
}

// seen is told each row, one at a time.
func (p *progress) seen(row conformance.Row) {
	if p.w == nil {
		return
	}
	p.done++
	fmt.Fprintf(p.w, "\r\x1b[K%d of %d rules: %s", p.done, p.total, row.ID)
}

// clear leaves nothing behind.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
