package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Near is text in the file that resembles what was looked for. It is shown,
// never edited.
type Near struct {
	Line int
	Text string
	Why  string // what it is: "the nearest text", or how it differs
}

const (
	// searched bounds how much of a file is looked through for something near.
	searched = 8 << 20
	// effort bounds, in bytes of lines, how much is compared to find it.
	effort = 4 * searched
	// manyLines bounds in the same way what the lines themselves take.
	manyLines = 1 << 18
	// longLine is more than a line has that is worth comparing.
	longLine = 64 << 10
	// shown bounds the text of a Near.
	shown = 2 << 10
	// alike is the least likeness worth showing, of 100.
	alike = 55
)

// nearest returns the lines of body most like old, or nil.
func nearest(body []byte, old string) *Near {
	lines := bytes.SplitN(body[:min(len(body), searched)], []byte{'\n'}, manyLines+1)
	lines = lines[:min(len(lines), manyLines)]
	if near := misread(body, lines, old); near != nil {
		return near
	}
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if at := equalLines(lines, want, norm.NFC.String); at >= 0 {
		return near(lines, at, len(want), "the same text with characters composed in another way")
	}
	if at := equalLines(lines, want, squeeze); at >= 0 {
		return near(lines, at, len(want), "text that differs only in white space")
	}
	anchor := longest(want)
	if at := mostAlike(lines, want[anchor]); at >= 0 {
		return near(lines, max(at-anchor, 0), len(want), "the nearest text")
	}
	return nil
}

func near(lines [][]byte, at, count int, why string) *Near {
	text := joined(lines[at:min(at+count, len(lines))])
	if len(text) > shown {
		cut := shown
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + " […]"
	}
	return &Near{Line: at + 1, Text: text, Why: why}
}

// joined is the beginning of lines, as much as can be shown and a little more.
func joined(lines [][]byte) string {
	var text strings.Builder
	for i, line := range lines {
		if i > 0 {
			text.WriteByte('\n')
		}
		if text.Write(line[:min(len(line), 2*shown)]); text.Len() > shown {
			break
		}
	}
	return text.String()
}

// equalLines returns where lines holds want if both are seen through form, or
// -1. The first and the last line of want need only be part of one.
func equalLines(lines [][]byte, want []string, form func(string) string) int {
	formed := make([]string, len(want))
	for i, line := range want {
		formed[i] = form(line)
	}
	if strings.Join(formed, "") == "" {
		return -1
	}
	left := effort
	for at := 0; at+len(want) <= len(lines) && left > 0; at++ {
		if holds(lines[at:at+len(want)], formed, form, &left) {
			return at
		}
	}
	return -1
}

// holds takes what it compares from left.
func holds(lines [][]byte, want []string, form func(string) string, left *int) bool {
	for i, line := range lines {
		if *left -= len(line) + 1; *left < 0 || len(line) > longLine {
			return false
		}
		line := form(string(line))
		switch {
		case len(want) == 1:
			if !strings.Contains(line, want[0]) {
				return false
			}
		case i == 0:
			if !strings.HasSuffix(line, want[0]) {
				return false
			}
		case i == len(want)-1:
			if !strings.HasPrefix(line, want[i]) {
				return false
			}
		case line != want[i]:
			return false
		}
	}
	return true
}

// squeeze makes every run of white space one space, and drops it at both ends.
func squeeze(s string) string {
	var out strings.Builder
	for word := range strings.FieldsSeq(s) {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(word)
	}
	return out.String()
}

// longest returns the line of want that says most.
func longest(want []string) int {
	best := 0
	for i, line := range want {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(want[best])) {
			best = i
		}
	}
	return best
}

// mostAlike returns the line with the most pairs of neighbouring bytes in common
// with want (the Dice coefficient), or -1 if none is alike.
func mostAlike(lines [][]byte, want string) int {
	wanted := []byte(squeeze(want))
	if len(wanted) < 2 {
		return -1
	}
	best, bestLine := alike-1, -1
	var pairs pairCount
	for i, line := range lines {
		if len(line) > longLine {
			continue
		}
		candidate := []byte(squeeze(string(line)))
		// Lines of very different length cannot be alike; most are out here.
		if n := min(len(candidate), len(wanted)); n < 2 || 200*(n-1) <= best*(len(candidate)+len(wanted)-2) {
			continue
		}
		if score := pairs.likeness(wanted, candidate); score > best {
			best, bestLine = score, i
		}
	}
	return bestLine
}

// pairCount counts pairs of bytes; between two uses it is all zero.
type pairCount [1 << 16]int32

func (p *pairCount) likeness(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 100
	}
	common := 0
	for i := 1; i < len(a); i++ {
		p[pair(a, i)]++
	}
	for i := 1; i < len(b); i++ {
		if p[pair(b, i)]--; p[pair(b, i)] >= 0 {
			common++
		}
	}
	for i := 1; i < len(a); i++ {
		p[pair(a, i)] = 0
	}
	for i := 1; i < len(b); i++ {
		p[pair(b, i)] = 0
	}
	return 200 * common / (len(a) + len(b) - 2)
}

func pair(s []byte, i int) int { return int(s[i-1])<<8 | int(s[i]) }
