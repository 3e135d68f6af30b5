package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
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
			// Long runs of what needs no decoding are most of most files.
			if n := verbatim(raw, c); n > 0 {
				text, raw = append(text, raw[:n]...), raw[n:]
				continue
			}
		}
		r, size := f.step(raw, c)
		text, raw = utf8.AppendRune(text, r), raw[size:]
	}
	return text
}

// verbatim returns how many bytes at the start of raw, which is not UTF-16,
// decode to themselves, and counts what is in them.
func verbatim(raw []byte, c *Census) (n int) {
	for {
		n += plain(raw[n:], c)
		if n == len(raw) || raw[n] == '\r' && n+1 < len(raw) && raw[n+1] == '\n' {
			return n
		}
		r, size := utf8.DecodeRune(raw[n:])
		if r == utf8.RuneError && size == 1 {
			return n
		}
		if size > 1 {
			c.Multi++
		}
		c.count(r)
		n += size
	}
}

// Eight bytes at once: a one in each, and the highest bit.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plain returns how many bytes at the start of raw are ASCII without control
// characters, but for tabs and LF.
func plain(raw []byte, c *Census) (n int) {
	for n+8 <= len(raw) {
		word := binary.LittleEndian.Uint64(raw[n:])
		// The highest bit of a byte is set if it is no ASCII, and by adding one to
		// DEL or taking away a space from what is less. Carries only go up, so the
		// lowest such byte is found rightly.
		odd := (word | (word + ones) | (word - ' '*ones)) & highs
		if odd == 0 {
			n += 8
			continue
		}
		n += bits.TrailingZeros64(odd) / 8
		if !c.blank(raw[n]) {
			return n
		}
		n++
	}
	for n < len(raw) && (raw[n] >= ' ' && raw[n] < 0x7f || c.blank(raw[n])) {
		n++
	}
	return n
}

// blank reports whether b is a tab or LF, and counts it.
func (c *Census) blank(b byte) bool {
	if b == '\n' {
		c.LF++
	}
	return b == '\n' || b == '\t'
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
