package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// step decodes the character at the start of raw, which is not empty, and says
// how many bytes it took. A CR LF is one character, LF.
func (f Format) step(raw []byte, c *Census) (r rune, size int) {
	if f.Wide() {
		r, size = f.wide(raw, c)
		if r == '\r' {
			if next, more := f.peek(raw[size:]); next == '\n' {
				c.CRLF++
				return '\n', size + more
			}
		}
		c.count(r)
		return r, size
	}
	if raw[0] == '\r' && len(raw) > 1 && raw[1] == '\n' {
		c.CRLF++
		return '\n', 2
	}
	r, size = utf8.DecodeRune(raw)
	switch {
	case r == utf8.RuneError && size == 1:
		c.Legacy++
		return fromLegacy(raw[0]), 1
	case size > 1:
		c.Multi++
	}
	c.count(r)
	return r, size
}

func (f Format) peek(raw []byte) (rune, int) {
	if len(raw) == 0 {
		return 0, 0
	}
	return f.wide(raw, &Census{})
}

// wide decodes one UTF-16 character.
func (f Format) wide(raw []byte, c *Census) (rune, int) {
	if len(raw) < 2 {
		c.Malformed++
		return utf8.RuneError, len(raw)
	}
	unit := rune(f.order().Uint16(raw))
	if !utf16.IsSurrogate(unit) {
		return unit, 2
	}
	if len(raw) >= 4 {
		if r := utf16.DecodeRune(unit, rune(f.order().Uint16(raw[2:]))); r != utf8.RuneError {
			return r, 4
		}
	}
	c.Malformed++
	return utf8.RuneError, 2
}

func (f Format) order() binary.ByteOrder {
	if f == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (c *Census) count(r rune) {
	switch {
	case r == '\n':
		c.LF++
	case r == 0:
		c.NUL++
		c.Controls++
	case r < ' ' && r != '\t' && r != '\r' && r != '\f' && r != '\b' && r != '\x1b', r == 0x7f:
		c.Controls++
	}
}

// appendDecoded appends raw as UTF-8 to text.
func (f Format) appendDecoded(text, raw []byte, c *Census) []byte {
	c.Bytes += len(raw)
	for len(raw) > 0 {
		if !f.Wide() {
			// Long runs of plain characters are most of most files.
			if n := plain(raw, c); n > 0 {
				text, raw = append(text, raw[:n]...), raw[n:]
				continue
			}
		}
		r, size := f.step(raw, c)
		text, raw = utf8.AppendRune(text, r), raw[size:]
	}
	return text
}

// plain returns how many bytes at the start of raw are ASCII that decodes to itself.
func plain(raw []byte, c *Census) int {
	for i, b := range raw {
		if b >= 0x80 || b == '\r' || b == 0x7f || b < ' ' && b != '\t' && b != '\n' {
			return i
		}
		if b == '\n' {
			c.LF++
		}
	}
	return len(raw)
}

// Unencodable is a character that the encoding of a file lacks.
type Unencodable struct {
	Char     rune
	Encoding string
}

// Error says what is wrong.
func (e *Unencodable) Error() string {
	return fmt.Sprintf("the character %q does not exist in %s", e.Char, e.Encoding)
}

// Encode turns text into the bytes that stand for it in a file of this format
// where c was met. Line ends are left as they are.
func (f Format) Encode(text string, c Census) ([]byte, error) {
	switch {
	case f.Wide():
		raw := make([]byte, 0, 2*len(text))
		for _, unit := range utf16.Encode([]rune(text)) {
			raw = f.order().(binary.AppendByteOrder).AppendUint16(raw, unit)
		}
		return raw, nil
	case c.Legacy > 0 && c.Multi == 0:
		var raw bytes.Buffer
		for _, r := range text {
			b, ok := toLegacy(r)
			if !ok {
				return nil, &Unencodable{Char: r, Encoding: c.Encoding(f)}
			}
			raw.WriteByte(b)
		}
		return raw.Bytes(), nil
	}
	return []byte(text), nil
}
