package assistant

import "strings"

// Change is what differs between two contents: lines went from behind Before, others came there.
type Change struct {
	// Line is that of the first that differs, from one.
	Line int
	// Removed and Added are whole lines without their ends. Context is the last line in front of them that stays, "" when
	// there is none.
	Context        string
	Removed, Added []string
}

// Changed finds what differs, in one piece.
func Changed(before, after []byte) Change {
	old, now := lines(before), lines(after)
	first := 0
	for first < len(old) && first < len(now) && old[first] == now[first] {
		first++
	}
	for len(old) > first && len(now) > first && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	c := Change{Line: first + 1, Removed: old[first:], Added: now[first:]}
	if first > 0 {
		c.Context = old[first-1]
	}
	return c
}

func lines(content []byte) []string {
	var all []string
	for line := range strings.Lines(string(content)) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	return all
}
