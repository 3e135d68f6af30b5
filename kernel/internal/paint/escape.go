package paint

import (
	"strings"
	"unicode/utf8"
)

// screen receives what is left of a stream once its escape sequences are understood.
type screen interface {
	text(s string)           // visible characters and tabs
	newline()                // LF or CR LF
	carriageReturn()         // a CR that no LF follows
	setColour(params string) // SGR parameters, harmless ones only
}

// Longer sequences are no sequences but an attempt to swallow the output that follows.
const (
	maxSequence = 64
	maxString   = 4096
)

type escapeState int

const (
	ground       escapeState = iota
	escaped                  // after ESC
	intermediate             // after ESC and a byte such as (
	control                  // after ESC [
	quoted                   // in a string such as a title (OSC), to be dropped
	quotedEsc                // after ESC in such a string
)

// parser is a terminal's reading of one stream of bytes, cut anywhere.
type parser struct {
	state   escapeState
	params  []byte // of the control sequence being read
	skipped int    // bytes of the string being read
	partial []byte // beginning of a UTF-8 sequence
	cr      bool   // a CR waits for what follows
}

// feed reads the next bytes.
func (p *parser) feed(data []byte, to screen) {
	if len(p.partial) > 0 {
		data = append(p.partial, data...)
		p.partial = nil
	}
	for len(data) > 0 {
		if p.state != ground {
			if p.escape(data[0], to) {
				data = data[1:]
			}
			continue
		}
		n := p.ground(data, to)
		if n == 0 { // an unfinished character
			p.partial = append([]byte(nil), data...)
			return
		}
		data = data[n:]
	}
}

// finish ends the stream: what is unfinished will not be finished any more.
func (p *parser) finish(to screen) {
	if len(p.partial) > 0 {
		to.text("\uFFFD")
	}
	*p = parser{}
}

// ground reads what is not in an escape sequence and returns how much it read.
func (p *parser) ground(data []byte, to screen) int {
	c := data[0]
	if p.cr && c != '\n' && c != '\r' {
		p.cr = false
		to.carriageReturn()
	}
	switch {
	case c == '\n':
		p.cr = false
		to.newline()
	case c == '\r':
		p.cr = true
	case c == 0x1b:
		p.state = escaped
	case c >= utf8.RuneSelf:
		return wide(data, to)
	case c < ' ' && c != '\t' || c == 0x7f:
		to.text(visible(rune(c)))
	default:
		n := printable(data)
		to.text(string(data[:n]))
		return n
	}
	return 1
}

// wide reads one character beyond ASCII.
func wide(data []byte, to screen) int {
	if !utf8.FullRune(data) {
		return 0
	}
	r, n := utf8.DecodeRune(data)
	to.text(visible(r))
	return n
}

// printable is the length of the run of ASCII that can be shown as it is.
func printable(data []byte) int {
	for i, c := range data {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return i
		}
	}
	return len(data)
}

// escape reads one byte of an escape sequence. It returns false for a byte that does not belong to it.
func (p *parser) escape(c byte, to screen) bool {
	switch p.state {
	case escaped:
		return p.afterEscape(c)
	case intermediate:
		if c >= 0x20 && c <= 0x2f {
			return true
		}
		p.state = ground
		return c >= 0x30 && c <= 0x7e
	case control:
		return p.controlSequence(c, to)
	case quotedEsc:
		p.state = escaped
		if c == '\\' {
			p.state = ground
			return true
		}
		return false
	default:
		return p.quotedString(c)
	}
}

func (p *parser) afterEscape(c byte) bool {
	p.state = ground
	switch {
	case c == '[':
		p.state, p.params = control, p.params[:0]
	case strings.IndexByte("]PX^_", c) >= 0:
		p.state, p.skipped = quoted, 0
	case c >= 0x20 && c <= 0x2f:
		p.state = intermediate
	default:
		return c >= 0x30 && c <= 0x7e
	}
	return true
}

func (p *parser) controlSequence(c byte, to screen) bool {
	switch {
	case c >= 0x20 && c <= 0x3f && len(p.params) < maxSequence:
		p.params = append(p.params, c)
	case c >= 0x40 && c <= 0x7e:
		p.state = ground
		if params, ok := harmless(string(p.params)); ok && c == 'm' {
			to.setColour(params)
		}
	default:
		p.state = ground
		return false
	}
	return true
}

// quotedString skips the text of a string. A line feed ends it: no line of output is lost in one.
func (p *parser) quotedString(c byte) bool {
	p.skipped++
	switch {
	case c == 0x1b:
		p.state = quotedEsc
	case c == 0x07:
		p.state = ground
	case c == '\n' || p.skipped > maxString:
		p.state = ground
		return false
	}
	return true
}
