package report

import (
	"fmt"

	"github.com/agentco/agent/bench/internal/row"
)

// text is a remark that is the same for all runs.
func text(s string) func(*row.Set) string { return func(*row.Set) string { return s } }

// aboutPread says what a pread leaves out.
func aboutPread(counting string) func(*row.Set) string {
	return func(s *row.Set) string {
		return fmt.Sprintf("The pread is told at which byte the line begins. Ours is asked for a line by its number, and has to count up to it "+
			"unless it counted before: that alone takes %s ms in process. The row where lines are counted compares like with like.",
			number(median(inside, counting)(s)))
	}
}

// wireOfRead says what passes to a client for 1 MiB, and what the client alone takes.
func wireOfRead(s *row.Set) string {
	const op = "read1m"
	out := fmt.Sprintf("The client alone takes %s ms for the text once, and %s for our answer: those are `%s` and `%s`, which answer from memory.",
		number(median(clientFloor, op)(s)), number(median(clientSame, op)(s)), clientFloor, clientSame)
	if r := s.Get(stdio, op); r != nil {
		out += fmt.Sprintf(" Ours sends %d bytes", r.WireIn)
		if r := bestRow(s, op, func(s *row.Set, name string) bool { return s.Kinds[name] == "mcp" }); r != nil {
			out += fmt.Sprintf(", %s %d", r.Subject, r.WireIn)
		}
		out += "."
	}
	return out
}

// aboutLists says what the best peer gives for an entry beside what ours does.
func aboutLists(s *row.Set) string {
	ours, other := s.Get(stdio, "list10k"), bestRow(s, "list10k", func(*row.Set, string) bool { return true })
	if ours == nil || other == nil || ours.Note == "" || other.Note == "" {
		return ""
	}
	return fmt.Sprintf("An entry is of ours: %s; of %s: %s.", ours.Note, other.Subject, other.Note)
}
