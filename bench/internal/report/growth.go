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

// series are operations that differ by how much there is to do: their names are a word, a number and an end.
var series = []struct {
	title, word, end string
	work             []float64
}{
	{"glob, by thousand files", "glob", "k", []float64{1, 10, 100}},
	{"grep, by thousand files", "grep", "k", []float64{1, 10, 100}},
	{"print, by MiB", "print", "mb", []float64{1, 16, 100, 256, 1024}},
	{"read 4 KiB, by calls at once", "crowd", "", []float64{1, 2, 4, 8, 16, 32, 64}},
	{"start, by providers", "start", "", []float64{1, 3, 5, 10, 20}},
	{"one more event that is safe, by events before", "log", "", []float64{10, 100, 1000, 10000, 100000}},
	{"agent session show, by events", "show", "", []float64{10, 100, 1000, 10000, 100000}},
	{"agent session verify, by events", "verify", "", []float64{10, 100, 1000, 10000, 100000}},
}

// growth shows how costs grow with the work. The slope is the power: 1 is in proportion, 0 not at all.
func growth(w io.Writer, s *row.Set) {
	for _, x := range series {
		var ops []string
		for _, n := range x.work {
			ops = append(ops, fmt.Sprintf("%s%g%s", x.word, n, x.end))
		}
		names := columns(s, func(r *row.Row) bool {
			return slices.Contains(ops, r.Op) && (r.Status == row.OK || r.Status == row.Truncated)
		})
		if len(names) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n## Growth: %s\n\n| |", x.title)
		for _, n := range x.work {
			fmt.Fprintf(w, " %g |", n)
		}
		fmt.Fprintf(w, " slope |\n|---|%s\n", strings.Repeat("--:|", len(ops)+1))
		for _, name := range names {
			costs := make([]float64, len(ops))
			line := make([]string, len(ops))
			for i, op := range ops {
				if r := s.Get(name, op); r != nil {
					costs[i], line[i] = r.P50, cell(r)
				}
			}
			fmt.Fprintf(w, "| %s |%s %s |\n", name, cells(line), slope(row.Slope(x.work, costs)))
		}
	}
}

func slope(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}

func memoryTable(w io.Writer, s *row.Set) {
	names := columns(s, func(r *row.Row) bool { return r.Op == "idle" || r.Op == "peak" })
	if len(names) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Memory in MB, each with its descendants\n\n| | idle | with shared pages once | peak of the run | peak by process |\n|---|--:|--:|--:|---|\n")
	for _, name := range names {
		line := make([]string, 4)
		if r := s.Get(name, "idle"); r != nil {
			line[0], line[1] = number(r.MB), number(r.ShareMB)
		}
		if r := s.Get(name, "peak"); r != nil {
			line[2] = number(r.MB)
			var parts []string
			for process, mb := range r.Parts {
				parts = append(parts, fmt.Sprintf("%s %.0f", process, mb))
			}
			sort.Strings(parts)
			line[3] = strings.Join(parts, ", ")
		}
		fmt.Fprintf(w, "| %s |%s\n", name, cells(line))
	}
}

// growthOfMemory shows by how much memory grew in operations on much.
func growthOfMemory(w io.Writer, s *row.Set) {
	ops := []string{"read1m", "line64m", "line2g", "list10k", "glob100k", "grep100k", "print100mb", "print1024mb"}
	byOperation(w, s, "Growth of memory in one operation, in MB", ops, func(r *row.Row) string { return positive(r.GrewMB) })
}

// processors shows what one call uses of them. Of what a subject starts anew for each call nothing is known.
func processors(w io.Writer, s *row.Set) {
	ops := []string{"read4k", "read4k_c8", "read1m", "edit4k", "edit1m", "list10k", "tree10k"}
	byOperation(w, s, "Processor time of one call in ms, of the subject and its client", ops, func(r *row.Row) string { return positive(r.CPU) })
}

// wire shows what passes between client and server for one call.
func wire(w io.Writer, s *row.Set) {
	ops := []string{"read4k", "read1m", "edit4k", "list10k", "true"}
	byOperation(w, s, "Bytes on the wire of one call: to the server + from it", ops, func(r *row.Row) string {
		if r.WireIn == 0 {
			return ""
		}
		return fmt.Sprintf("%d + %d", r.WireOut, r.WireIn)
	})
}

// positive is a number that was measured.
func positive(v float64) string {
	if v > 0 {
		return number(v)
	}
	return ""
}

// byOperation writes a table of subjects that have something in it.
func byOperation(w io.Writer, s *row.Set, title string, ops []string, cell func(*row.Row) string) {
	names := columns(s, func(r *row.Row) bool { return slices.Contains(ops, r.Op) && cell(r) != "" })
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n| |%s\n|---|%s\n", title, cells(ops), strings.Repeat("--:|", len(ops)))
	for _, name := range names {
		line := make([]string, len(ops))
		for i, op := range ops {
			if r := s.Get(name, op); r != nil {
				line[i] = cell(r)
			}
		}
		fmt.Fprintf(w, "| %s |%s\n", name, cells(line))
	}
}

func binaries(w io.Writer, sizes map[string]int64) {
	if len(sizes) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Binaries in MB\n\n| | |\n|---|--:|\n")
	var names []string
	for name := range sizes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(w, "| %s | %.1f |\n", name, float64(sizes[name])/1e6)
	}
}

// notes say what the subjects are, who was skipped, and what failed.
func notes(w io.Writer, s *row.Set) {
	fmt.Fprint(w, "\n## Subjects\n\n| | |\n|---|---|\n")
	names := columns(s, func(*row.Row) bool { return true })
	for _, name := range names {
		if about := s.About[name]; about != "" {
			fmt.Fprintf(w, "| %s | %s |\n", name, about)
		}
	}
	var skipped []string
	for name, why := range s.Skipped {
		skipped = append(skipped, fmt.Sprintf("| %s | %s |\n", name, oneLine(why)))
	}
	if sort.Strings(skipped); len(skipped) > 0 {
		fmt.Fprint(w, "\n## Skipped\n\n| | |\n|---|---|\n"+strings.Join(skipped, ""))
	}
	var about []string
	for _, r := range s.Rows {
		if r.Status == row.OK && r.Note != "" && slices.Contains(explained, r.Op) {
			about = append(about, fmt.Sprintf("| %s | %s | %s |\n", r.Op, r.Subject, oneLine(r.Note)))
		}
	}
	if len(about) > 0 {
		fmt.Fprint(w, "\n## What rows are about\n\n| | | |\n|---|---|---|\n"+strings.Join(about, ""))
	}
	var bad []string
	for _, r := range s.Rows {
		if r.Status != row.OK {
			bad = append(bad, fmt.Sprintf("| %s | %s | %s | %s |\n", r.Subject, r.Op, r.Status, oneLine(r.Note)))
		}
	}
	if len(bad) > 0 {
		fmt.Fprint(w, "\n## What did not come back whole\n\n| | | | |\n|---|---|---|---|\n"+strings.Join(bad, ""))
	}
}

// explained are the operations whose rows are not about the same for all subjects.
var explained = []string{"cold", "list10k", "tree10k", "read1m", "ttfb", "print100mb", "cancel_group", "cancel_setsid", "status", "tag", "release", "release_commit", "draft_all"}

func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "|", "/").Replace(text)
}
