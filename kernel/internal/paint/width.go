package paint

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v17/textseg"
	"golang.org/x/text/width"
)

// Width is how many columns a line takes on a terminal. Tabs count as one.
func Width(s string) int {
	if ascii(s) { // as most cells are
		return len(s)
	}
	columns := 0
	for s != "" {
		n, w := character(s)
		columns += w
		s = s[n:]
	}
	return columns
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// character measures the first character a person sees: its bytes and its columns.
func character(s string) (bytes, columns int) {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return 1, 1
	}
	n, cluster, err := textseg.ScanGraphemeClusters([]byte(s), true)
	if err != nil || n == 0 {
		return len(s), utf8.RuneCountInString(s)
	}
	for _, r := range string(cluster) {
		columns = max(columns, runeWidth(r))
	}
	return n, columns
}

func runeWidth(r rune) int {
	const emojiPresentation = 0xfe0f
	switch k := width.LookupRune(r).Kind(); {
	case r == emojiPresentation, k == width.EastAsianWide, k == width.EastAsianFullwidth:
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	default:
		return 1
	}
}

// wrap cuts a line into pieces of at most some columns, at blanks where there are any.
func wrap(s string, columns int) []string {
	var lines []string
	for at := fit(s, columns); at < len(s); at = fit(s, columns) {
		if blank := strings.LastIndexByte(s[:min(at+1, len(s))], ' '); blank > 0 { // the one behind a word that just fits
			at = blank
		}
		lines = append(lines, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
	return append(lines, s)
}

// fit is how many bytes of s take at most some columns, at least one character.
func fit(s string, columns int) int {
	at := 0
	for at < len(s) {
		n, w := character(s[at:])
		if columns -= w; columns < 0 && at > 0 {
			return at
		}
		at += n
	}
	return at
}

// Clip shortens a line to some columns, with … where something is missing.
func Clip(s string, columns int) string {
	if columns < 1 || Width(s) <= columns {
		return s
	}
	if columns == 1 {
		return "…"
	}
	return s[:fit(s, columns-1)] + "…"
}
