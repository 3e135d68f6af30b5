// Package report writes a run as Markdown: what was aimed at and what came of it, every median beside its floor, and how
// costs grow.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/agentco/agent/bench/internal/row"
)

// Write writes the report of a set.
func Write(w io.Writer, s *row.Set) {
	fmt.Fprintf(w, "%s, %s, scale %g. Medians in ms unless said; ratios are of figures of this run.\n", s.Started[:10], s.Machine, s.Scale)
	fmt.Fprintf(w, "Others used %.1f cores meanwhile (median over the rows); cells measured beside more than 0.5 have a ~.\n", foreign(s))
	if s.Interrupted {
		fmt.Fprint(w, "The run was ended before all was measured: these are the operations that it came to.\n")
	}
	targets(w, s)
	bounds(w, s)
	medians(w, s)
	growth(w, s)
	processors(w, s)
	memoryTable(w, s)
	growthOfMemory(w, s)
	wire(w, s)
	binaries(w, s.Binaries)
	notes(w, s)
}

func foreign(s *row.Set) float64 {
	var all []float64
	for _, r := range s.Rows {
		if r.Foreign > 0 { // else it was over too soon to tell
			all = append(all, r.Foreign)
		}
	}
	slices.Sort(all)
	return row.Quantile(all, 0.5)
}

func targets(w io.Writer, s *row.Set) {
	fmt.Fprint(w, "\n## Targets\n\n| work | ours | against | | ratio | target | |\n|---|--:|--:|---|--:|--:|---|\n")
	met, all := 0, 0
	var remarks []string
	for _, t := range Targets {
		v := t.Judge(s)
		mark := ""
		if t.Remark != nil && v.Measured() {
			if text := t.Remark(s); text != "" {
				remarks = append(remarks, text)
				mark = fmt.Sprintf(" (%d)", len(remarks))
			}
		}
		ratio, word := "–", "not measured"
		if v.Measured() {
			all++
			ratio, word = fmt.Sprintf("%.2f", v.Ratio), "**not met**"
			if v.Met() {
				word, met = "met", met+1
			}
		}
		fmt.Fprintf(w, "| %s%s | %s | %s | %s | %s | %s | %s |\n", t.Work, mark, number(v.Value), number(v.Other), t.Named, ratio, wanted(t), word)
	}
	fmt.Fprintf(w, "\n%d of %d measured targets met.\n", met, all)
	for i, text := range remarks {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%d. %s\n", i+1, text)
	}
}

func wanted(t Target) string {
	if t.AtLeast > 0 {
		return fmt.Sprintf("≥ %g", t.AtLeast)
	}
	return fmt.Sprintf("≤ %g", t.AtMost)
}

// columns are the subjects in the order of the tables: floors, ours, and then the others.
func columns(s *row.Set, has func(*row.Row) bool) []string {
	rank := func(name string) int {
		fixed := []string{inside, jailed, logAlone, goPlugin, streamed, clientFloor, clientSame, bareMCP, linked, chain, chainSame, native, stdio, "ours-http", "bash", "rg", "fd", "git", "bwrap"}
		if i := slices.Index(fixed, name); i >= 0 {
			return i
		}
		return len(fixed)
	}
	var names []string
	for _, r := range s.Rows {
		if has(r) && !slices.Contains(names, r.Subject) {
			names = append(names, r.Subject)
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return rank(names[i]) < rank(names[j]) })
	return names
}

// sections are the tables of medians.
var sections = []struct {
	title string
	ops   []string
}{
	{"Start and reads", []string{"cold", "noop", "read4k", "read4k_c8", "read1m", "line64m", "count64m", "line2g", "count2g"}},
	{"Changes", []string{"edit4k", "replace4k", "edit1m", "replace1m", "undoable1m", "write1m"}},
	{"Lists and searches", []string{"list10k", "look10k", "tree10k", "glob100k", "grep100k"}},
	{"Commands", []string{"true", "sandboxed", "ttfb", "print100mb", "cancel_group", "cancel_setsid"}},
	{"Releases (10,000 commits, 200 tags)", []string{
		"describe", "status", "tag", "release", "release_commit", "log_new", "log_all", "changelog", "next_version", "changelog_draft", "draft_all", "changelog_all",
	}},
}

func medians(w io.Writer, s *row.Set) {
	for _, section := range sections {
		names := columns(s, func(r *row.Row) bool { return slices.Contains(section.ops, r.Op) })
		if len(names) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n## %s\n\n| |%s\n|---|%s\n", section.title, cells(names), strings.Repeat("--:|", len(names)))
		for _, op := range section.ops {
			line, any := make([]string, len(names)), false
			for i, name := range names {
				if r := find(s, name, op); r != nil {
					line[i], any = cell(r), true
				}
			}
			if any {
				fmt.Fprintf(w, "| %s |%s\n", op, cells(line))
			}
		}
	}
}

func cells(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(" " + t + " |")
	}
	return b.String()
}

func find(s *row.Set, subject, op string) *row.Row {
	for _, r := range s.Rows {
		if r.Subject == subject && r.Op == op {
			return r
		}
	}
	return nil
}

// cell is a median with what is to be known of it.
func cell(r *row.Row) string {
	switch r.Status {
	case row.Failed:
		return "failed"
	case row.Never:
		return "never"
	}
	text := number(r.P50)
	if strings.HasPrefix(r.Op, "print") {
		text += fmt.Sprintf(" (%s MB/s)", number(r.MBps))
	}
	if r.Status == row.Truncated {
		text += " (part)"
	}
	if r.Foreign > 0.5 {
		text = "~" + text
	}
	return text
}

// number has three significant digits.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}
