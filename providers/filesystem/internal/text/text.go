// Package text reads files as text without guessing more than it must.
//
// The bytes of a file stay what they are; this package only gives a view of
// them. A [Format] says how bytes stand for characters. [View] is a whole file
// decoded, with the way back from every place in the text to its bytes, and
// [Scan] picks lines out of a stream of any length in bounded memory. In both,
// the line end CR LF reads as LF.
//
// Three families are known: UTF-8 (with or without a byte-order mark), UTF-16
// with a mark, and single-byte text. The last is not announced by anything, so
// it is never assumed for a whole file: each byte that is not part of a UTF-8
// sequence is read as Windows-1252, in which every byte is some character.
package text

import (
	"bytes"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// SniffLen is how many bytes from the start of a file tell its [Format].
const SniffLen = 8 << 10

// Format is how the bytes of a file stand for characters.
type Format int

// The formats that are known. Narrow text is UTF-8 in which single bytes of
// Windows-1252 may stand; which of the two it was, [Census] tells afterwards.
const (
	Narrow Format = iota
	NarrowBOM
	UTF16LE
	UTF16BE
)

var marks = map[Format]string{NarrowBOM: "\xef\xbb\xbf", UTF16LE: "\xff\xfe", UTF16BE: "\xfe\xff"}

// Detect returns the format of a file that begins with head.
func Detect(head []byte) Format {
	for format, mark := range marks {
		if bytes.HasPrefix(head, []byte(mark)) {
			return format
		}
	}
	return Narrow
}

// Mark returns the byte-order mark a file of this format begins with.
func (f Format) Mark() string { return marks[f] }

// Wide reports whether characters are two bytes or four.
func (f Format) Wide() bool { return f == UTF16LE || f == UTF16BE }

// BinaryType returns the media type of a file that begins with head if that is
// a known kind which is not text, else "". Text never has one, however its
// first letters look.
func BinaryType(head []byte) string {
	if Detect(head).Wide() || !suspicious(head) {
		return ""
	}
	found := mimetype.Detect(head)
	if found.Is("application/octet-stream") {
		return ""
	}
	for m := found; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return ""
		}
	}
	return found.String()
}

func suspicious(head []byte) bool {
	if len(head) >= SniffLen { // a character cut in two at the end is no sign
		head = wholeRunes(head)
	}
	return bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head)
}

// wholeRunes is text without the beginning of a character at its end.
func wholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// Census counts what was met while decoding.
type Census struct {
	Bytes     int
	Multi     int // characters of several bytes in UTF-8
	Legacy    int // bytes read as Windows-1252
	Controls  int // control characters that text does not use
	NUL       int
	Malformed int // halves of UTF-16 characters
	LF, CRLF  int // line ends
}

// Binary reports whether what was counted is not text.
func (c Census) Binary() bool {
	const few, fewer = 20, 200 // one in so many
	return c.NUL > 0 || c.Malformed*fewer > c.Bytes || c.Legacy > 0 && c.Controls*few > c.Bytes
}

// Encoding names the encoding that was met, for people.
func (c Census) Encoding(f Format) string {
	switch {
	case f == UTF16LE:
		return "utf-16le"
	case f == UTF16BE:
		return "utf-16be"
	case c.Legacy > 0 && c.Multi > 0:
		return "mixed utf-8 and windows-1252"
	case c.Legacy > 0:
		return "windows-1252"
	case f == NarrowBOM:
		return "utf-8-bom"
	}
	return "utf-8"
}

// LineEnding names the line ends that were met: lf, crlf, mixed or none.
func (c Census) LineEnding() string {
	switch {
	case c.LF > 0 && c.CRLF > 0:
		return "mixed"
	case c.CRLF > 0:
		return "crlf"
	case c.LF > 0:
		return "lf"
	}
	return "none"
}
