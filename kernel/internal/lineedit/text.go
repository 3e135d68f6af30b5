package lineedit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v17/textseg"
)

// buffer is a text with a cursor, which is always between two characters as a person sees them.
type buffer struct {
	text string
	at   int // in bytes
}

// after is where the character ends that begins at byte i.
func after(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	if s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
		return i + 1
	}
	n, _, err := textseg.ScanGraphemeClusters([]byte(s[i:]), true)
	if err != nil || n == 0 {
		return len(s)
	}
	return i + n
}

// before is where the character begins that ends at byte i.
func before(s string, i int) int {
	for from := anchor(s, i-1); ; {
		end := after(s, from)
		if end >= i {
			return from
		}
		from = end
	}
}

// anchor is the last place up to byte i where a character surely begins: they can only be told apart from the front.
func anchor(s string, i int) int {
	for i > 0 && (s[i] >= utf8.RuneSelf || s[i-1] >= utf8.RuneSelf) {
		i--
	}
	return max(i, 0)
}

// lineLimit is how long a line can be, in bytes. What is longer belongs into a file.
const lineLimit = 256 << 10

// insert puts a text before the cursor. What would make the line too long is left out as a whole; it returns false then.
func (b *buffer) insert(s string) bool {
	if len(b.text)+len(s) > lineLimit {
		return false
	}
	b.text = b.text[:b.at] + s + b.text[b.at:]
	i := anchor(b.text, b.at)
	b.at += len(s)
	for i < b.at { // the end of what was inserted may be a part of the character behind it
		i = after(b.text, i)
	}
	b.at = i
	return true
}

// cut takes away what is between the cursor and another place, and returns it.
func (b *buffer) cut(to int) string {
	from, to := min(b.at, to), max(b.at, to)
	gone := b.text[from:to]
	b.text, b.at = b.text[:from]+b.text[to:], from
	return gone
}

// left is the place of the character before the cursor.
func (b *buffer) left() int {
	if b.at == 0 {
		return 0
	}
	return before(b.text, b.at)
}

func (b *buffer) right() int { return after(b.text, b.at) }

// rowStart and rowEnd are those of the row of the text that the cursor is in.
func (b *buffer) rowStart() int { return strings.LastIndexByte(b.text[:b.at], '\n') + 1 }

func (b *buffer) rowEnd() int {
	if n := strings.IndexByte(b.text[b.at:], '\n'); n >= 0 {
		return b.at + n
	}
	return len(b.text)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordLeft is where the word before the cursor begins, wordRight where the next one ends.
func (b *buffer) wordLeft() int {
	head := strings.TrimRightFunc(b.text[:b.at], func(r rune) bool { return !isWordRune(r) })
	return len(strings.TrimRightFunc(head, isWordRune))
}

func (b *buffer) wordRight() int {
	tail := strings.TrimLeftFunc(b.text[b.at:], func(r rune) bool { return !isWordRune(r) })
	return len(b.text) - len(strings.TrimLeftFunc(tail, isWordRune))
}

// blankLeft is where what stands before the cursor, between blanks, begins.
func (b *buffer) blankLeft() int {
	head := strings.TrimRightFunc(b.text[:b.at], unicode.IsSpace)
	return len(strings.TrimRightFunc(head, func(r rune) bool { return !unicode.IsSpace(r) }))
}
