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
// much it is the beginning and the end, of lines that are too long too: often what goes is shown at one and what comes at
// the other.
func behindBars(shown string) string {
	const bar = "│ "
	all := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
	size := 0
	for i, line := range all {
		if len(line) > longestPreviewLine {
			head, tail := cutBefore(line, longestPreviewLine/2), cutAfter(line, longestPreviewLine/2)
			all[i] = fmt.Sprintf("%s…[%d bytes]…%s", head, len(line)-len(head)-len(tail), tail)
		}
		all[i] = bar + all[i]
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
	for n > 0 && !utf8.RuneStart(s[n]) {
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
