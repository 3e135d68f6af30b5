package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// unassigned are the bytes for which Windows-1252 has no character. They stand
// for the control characters of their number, as on the web.
const unassigned = "\x81\x8d\x8f\x90\x9d"

// fromLegacy returns the character of a byte that is no UTF-8. Each byte has one
// of its own.
func fromLegacy(b byte) rune {
	if r := charmap.Windows1252.DecodeByte(b); r != utf8.RuneError {
		return r
	}
	return rune(b)
}

func toLegacy(r rune) (b byte, ok bool) {
	if r < 0x100 && strings.IndexByte(unassigned, byte(r)) >= 0 {
		return byte(r), true
	}
	return charmap.Windows1252.EncodeRune(r)
}
