package paint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes the control characters of a text visible. Line feeds and tabs stay, CR LF becomes a line feed,
// and what is not UTF-8 becomes U+FFFD.
func Text(s string) string { return clean(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// Line is Text for a place that has only one line.
func Line(s string) string {
	if plain(s, "") {
		return s
	}
	s = strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\r\n", "\n")
	return clean(oneLine.Replace(s), "")
}

var oneLine = strings.NewReplacer("\n", "↵", "\t", " ")

// clean makes every control character visible but those to keep.
func clean(s, keep string) string {
	control := func(r rune) bool {
		return (r < ' ' || r == 0x7f || r == utf8.RuneError || hidden(r)) && !strings.ContainsRune(keep, r)
	}
	if plain(s, keep) || strings.IndexFunc(s, control) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if control(r) {
			b.WriteString(visible(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether a text is ASCII without control characters but those to keep: most is, and can be megabytes.
func plain(s, keep string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c >= 0x7f) && strings.IndexByte(keep, c) < 0 {
			return false
		}
	}
	return true
}

// textLines are the lines of a text, the line feed at its end not making another.
func textLines(s string) []string {
	return strings.Split(strings.TrimSuffix(Text(s), "\n"), "\n")
}

// visible is a rune as it may be shown: itself unless it controls something.
func visible(r rune) string {
	switch {
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	case hidden(r):
		return fmt.Sprintf("<U+%04X>", r)
	default:
		return string(r)
	}
}

// hidden reports whether a rune changes how others are shown, or carries text that is not shown at all.
func hidden(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r < 0xa0, // C1
		r == 0x2028, r == 0x2029, // line and paragraph separator
		r >= 0x2060 && r <= 0x2064,   // invisible operators
		r == 0x200b,                  // zero width space
		r == 0xfeff,                  // zero width no-break space
		r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	default:
		return unicode.Is(unicode.Bidi_Control, r)
	}
}
