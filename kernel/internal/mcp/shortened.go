package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a question shows of a preview. A diff of megabytes helps nobody to decide.
const (
	longestPreview = 24 << 10
	// longestPreviewLine leaves room for what is on both sides of a change.
	longestPreviewLine = 4 << 10
)

// behindBars is what a provider has painted, every line behind a bar, so that none can look like one of ours. Of too
// much it is the beginning and the end, often with what goes at one and what comes at the other. A
// line that is too long is shown in parts.
func behindBars(shown string) string {
	const bar = "│ "
	whole := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
	all := make([]string, len(whole))
	size := 0
	for i, line := range whole {
		all[i] = bar + shortLine(line, apart(whole, i))
		size += len(all[i]) + 1
	}
	if size <= longestPreview {
		return strings.Join(all, "\n")
	}
	head := linesWithin(all, longestPreview/2, func(i int) int { return i })
	tail := linesWithin(all, longestPreview/2, func(i int) int { return len(all) - 1 - i })
	left := all[head : len(all)-tail]
	hidden := len(strings.Join(left, "\n"))
	out := append(all[:head:head], fmt.Sprintf("(%d of %d lines of the preview, %d KiB, are left out here)", len(left), len(all), hidden>>10))
	return strings.Join(append(out, all[len(all)-tail:]...), "\n")
}

// apart is where a line that goes or comes begins to differ from the one that comes or goes beside it; 0 of others.
func apart(lines []string, i int) (at int) {
	var other string
	switch line := lines[i]; {
	case strings.HasPrefix(line, "-") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+"):
		other = lines[i+1]
	case strings.HasPrefix(line, "+") && i > 0 && strings.HasPrefix(lines[i-1], "-"):
		other = lines[i-1]
	}
	for at = 1; at < min(len(lines[i]), len(other)) && lines[i][at] == other[at]; {
		at++
	}
	return at - 1
}

// shortLine is a line, or its beginning, what is at this place, and its end.
func shortLine(line string, at int) string {
	if len(line) <= longestPreviewLine {
		return line
	}
	const part = longestPreviewLine / 4
	head := cutBefore(line, part)
	if from := len(cutBefore(line, max(at-part/2, 0))); from > len(head) && len(line)-from > 2*part {
		shown := cutBefore(line[from:], part)
		head, line = fmt.Sprintf("%s…[%d bytes]…%s", head, from-len(head), shown), line[from+len(shown):]
	} else {
		line = line[len(head):]
	}
	tail := cutAfter(line, min(2*part, len(line)))
	if len(tail) == len(line) {
		return head + tail
	}
	return fmt.Sprintf("%s…[%d bytes]…%s", head, len(line)-len(tail), tail)
}

// linesWithin is how many lines, taken in this order, so many bytes hold.
func linesWithin(lines []string, room int, order func(int) int) (n int) {
	for n < len(lines) {
		if room -= len(lines[order(n)]) + 1; room < 0 {
			break
		}
		n++
	}
	return n
}

// cutBefore is the beginning of s, cutAfter its end: whole characters, at most n bytes.
func cutBefore(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func cutAfter(s string, n int) string {
	at := len(s) - n
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
