package config

import (
	"fmt"
	"strings"
	"unicode"
)

// escapes are the characters that have a short escape in a text of HCL.
var escapes = map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '"': `\"`, '\\': `\\`}

// literal writes a text as a file has it, in quotes. What HCL would take for a template is none.
//
// Package hclwrite does the same, but with what it imports every command of agent would start a third of a millisecond later.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch escape := escapes[r]; {
		case escape != "":
			b.WriteString(escape)
		case (r == '$' || r == '%') && strings.HasPrefix(text[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
