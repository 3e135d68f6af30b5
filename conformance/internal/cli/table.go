package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentco/agent/conformance"
	"github.com/agentco/agent/conformance/internal/plain"
)

// table writes a report for people.
type table struct {
	w       *bufio.Writer
	colour  bool
	verbose bool
	width   int // of the terminal; zero when there is none
}

func newTable(w io.Writer, verbose bool) *table {
	return &table{w: bufio.NewWriter(w), colour: coloured(w), verbose: verbose, width: width(w)}
}

func (t *table) write(r conformance.Report) error {
	longest := 0
	for _, row := range r.Rows {
		longest = max(longest, len(row.ID))
	}
	if r.Provider != "" {
		fmt.Fprintf(t.w, "%s\n\n", plain.Line(r.Provider))
	}
	untried := 0
	for _, row := range r.Rows {
		if r.Foreign && row.Verdict == conformance.Skipped && row.ID != "handshake.line" {
			untried++
			continue
		}
		t.row(row, longest)
	}
	if r.Foreign {
		fmt.Fprintf(t.w, "\nthis does not start as a provider; %d rules not tried\n", untried)
		return t.w.Flush()
	}
	for i, text := range r.Uncalled {
		if i == 0 {
			fmt.Fprintln(t.w)
		}
		fmt.Fprintln(t.w, plain.Line(text))
	}
	fmt.Fprintf(t.w, "\n%d rules in %s: %s\n", len(r.Rows), r.Took.Round(100*time.Millisecond), t.summary(r))
	return t.w.Flush()
}

// row is one line, and what the rule says where that matters.
func (t *table) row(row conformance.Row, longest int) {
	head := fmt.Sprintf("%-*s  ", longest, row.ID)
	seen := plain.Line(row.Seen)
	told := t.verbose || row.Verdict == conformance.Fail || row.Verdict == conformance.Warn
	const verdict = len("skipped  ")
	if room := t.width - len(head) - verdict; t.width > 0 && !told && room > 10 {
		seen = plain.Clip(seen, room)
	}
	fmt.Fprintf(t.w, "%s%s  %s\n", head, t.paint(row.Verdict, fmt.Sprintf("%-7s", row.Verdict)), seen)
	if told {
		indent := strings.Repeat(" ", longest+verdict+2)
		fmt.Fprintf(t.w, "%s%s: %s\n%s%s: %q\n", indent, row.Level, row.Title, indent, row.Section, row.Sentence)
	}
}

func (t *table) summary(r conformance.Report) string {
	var parts []string
	for _, v := range verdicts {
		if n := r.Count(v); n > 0 || v == conformance.Fail {
			text := fmt.Sprintf("%d %s", n, v)
			if n > 0 {
				text = t.paint(v, text)
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

func (t *table) paint(v conformance.Verdict, text string) string {
	if !t.colour {
		return text
	}
	code := map[conformance.Verdict]string{conformance.Pass: "32", conformance.Fail: "1;31", conformance.Warn: "33", conformance.Skipped: "2"}[v]
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
