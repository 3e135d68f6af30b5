// Package plain makes text from elsewhere fit to be shown.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is text in one line, without what would take a terminal or an XML file by surprise: control codes, characters that
// cannot be seen, and those that turn the direction of writing.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return utf8.RuneError
		default:
			return r
		}
	}, s)
}

// Clip shortens a text to a number of characters.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for i := range s {
		if most--; most == 0 {
			if _, size := utf8.DecodeRuneInString(s[i:]); i+size < len(s) {
				return s[:i] + "…"
			}
		}
	}
	return s
}
