package text

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Window says which lines of a stream are wanted.
type Window struct {
	First int // from 1
	Count int
	// MaxBytes bounds the text that is returned. Lines are kept whole; only a
	// first line that is longer than this by itself is cut.
	MaxBytes int
	// Whole reads the stream to its end, to know how many lines it has. Without
	// it reading stops where the answer is certain.
	Whole bool
	// Length is how long the stream is likely to be, in bytes; 0: it is not known.
	// It only saves memory.
	Length int64
	// Accept, unless it is nil, is shown how the stream begins, up to [SniffLen]
	// bytes. Its error ends the scan.
	Accept func(head []byte) error
}

// Lines is what was found in a [Window].
type Lines struct {
	Text   string
	Census Census // of the lines in Text; line ends of everything that was read
	Format Format

	First, Last int  // the lines in Text; Last < First: none
	More        bool // lines follow Last
	Total       int  // lines in the stream, if Complete
	Complete    bool // the stream was read to its end
	Clipped     bool // MaxBytes ended the text, not Count
	Cut         bool // the text ends inside a line
}

// block is how much is read at a time.
const block = 64 << 10

var blocks = sync.Pool{New: func() any { return new([block]byte) }}

// beyond is how much more of a line is kept than may be returned.
const beyond = 2 * utf8.UTFMax

// Scan reads r up to the window's end, or its own. Memory does not depend on
// the length of the stream or its lines. It stops early at what is no text; the
// census tells.
func Scan(ctx context.Context, r io.Reader, w Window) (Lines, error) {
	s := scanner{window: w, number: 1, out: Lines{First: w.First, Last: w.First - 1}}
	buf := blocks.Get().(*[block]byte)
	defer blocks.Put(buf)
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return s.result(), err
		}
		// A full block, so that its end cuts a character only where the stream's does.
		n, err := io.ReadFull(r, buf[:])
		data := buf[:n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if first && (end || err == nil) {
			if err := s.begin(data); err != nil {
				return Lines{}, err
			}
			data = data[len(s.out.Format.Mark()):]
		}
		s.feed(s.narrow(data, end))
		switch {
		case end:
			s.finish()
			return s.result(), nil
		case err != nil || s.done:
			return s.result(), err
		}
	}
}

// scanner is a scan under way. It works on bytes in which a line ends with the
// byte LF: UTF-16 is made UTF-8 first.
type scanner struct {
	window  Window
	out     Lines
	number  int             // of the current line
	text    strings.Builder // the lines so far, decoded
	line    []byte          // the current line as far as it is wanted
	decoded []byte          // what is not decoded in place
	carry   []byte          // an UTF-16 character cut in two by the end of a block
	last    byte            // the last byte seen
	any     bool            // there was a byte
	tight   bool            // lines are to be taken one by one
	closed  bool            // the window is full
	done    bool            // nothing that follows can change the answer
}

// begin finds the format in how the stream begins, and asks whether to go on.
func (s *scanner) begin(data []byte) error {
	s.out.Format = Detect(data)
	if s.window.Accept == nil {
		return nil
	}
	return s.window.Accept(data[:min(len(data), SniffLen)])
}

func (s *scanner) feed(data []byte) {
	if len(data) == 0 {
		return
	}
	ends := s.countLineEnds(data)
	for len(data) > 0 && !s.done {
		var size, lines int
		switch {
		case s.closed:
			s.out.More = true
			s.number += ends
			s.done = !s.window.Whole
			return
		case s.number < s.window.First:
			size, lines = s.skip(data, ends)
		default:
			if size, lines = s.takeLines(data, ends); size == 0 {
				size, lines = s.take(data)
			}
		}
		data, ends = data[size:], ends-lines
		s.number += lines
	}
}

// countLineEnds returns how many lines end in data.
func (s *scanner) countLineEnds(data []byte) int {
	ends, crlf := bytes.Count(data, []byte{'\n'}), 0
	if bytes.IndexByte(data, '\r') >= 0 {
		crlf = bytes.Count(data, []byte("\r\n"))
	}
	if s.last == '\r' && data[0] == '\n' {
		crlf++
	}
	s.out.Census.CRLF += crlf
	s.out.Census.LF += ends - crlf
	s.last, s.any = data[len(data)-1], true
	return ends
}

// skip says how much of data lies before the window.
func (s *scanner) skip(data []byte, ends int) (size, lines int) {
	wanted := s.window.First - s.number
	if ends < wanted {
		return len(data), ends
	}
	return lengthOf(data, wanted), wanted
}

// lengthOf returns the length of the first lines of data.
func lengthOf(data []byte, lines int) (n int) {
	for range lines {
		n += bytes.IndexByte(data[n:], '\n') + 1
	}
	return n
}

// takeLines adds the whole lines that data begins with, as many as are wanted
// and fit, all at once. It adds none, and says so, where they are to be looked
// at one by one.
func (s *scanner) takeLines(data []byte, ends int) (size, lines int) {
	if s.tight || len(s.line) > 0 {
		return 0, 0
	}
	if room := s.window.MaxBytes - s.text.Len(); room < len(data) {
		data = data[:room]
		ends = bytes.Count(data, []byte{'\n'})
	}
	lines = min(ends, s.wanted())
	if lines < ends {
		size = lengthOf(data, lines)
	} else {
		size = bytes.LastIndexByte(data, '\n') + 1
	}
	if size == 0 {
		return 0, 0
	}
	text, census := s.decode(data[:size])
	if s.text.Len()+len(text) > s.window.MaxBytes {
		s.tight = true
		return 0, 0
	}
	s.add(text, lines, census)
	return size, lines
}

// wanted is how many lines are, from the current one on, which is in the window.
func (s *scanner) wanted() int { return s.window.Count - (s.number - s.window.First) }

// take adds to the current line, which is in the window.
func (s *scanner) take(data []byte) (size, lines int) {
	end := bytes.IndexByte(data, '\n') + 1
	part := data
	if end > 0 {
		part = data[:end]
	}
	// A little more than fits tells that it does not fit.
	room := s.window.MaxBytes + beyond - len(s.line)
	s.line = append(s.line, part[:min(len(part), max(room, 0))]...)
	switch {
	case end > 0:
		s.commit()
		return len(part), 1
	case len(part) > room && !s.window.Whole:
		s.commit()
		s.out.More, s.done = true, true
	}
	return len(part), 0
}

// commit adds the current line to the text if it fits.
func (s *scanner) commit() {
	if s.closed {
		return
	}
	if len(s.line) >= s.window.MaxBytes+beyond { // what was kept may end inside a character
		s.line = wholeRunes(s.line)
	}
	text, census := s.decode(s.line)
	s.line = s.line[:0]
	if s.text.Len()+len(text) > s.window.MaxBytes {
		s.closed, s.out.Clipped = true, true
		if s.text.Len() > 0 {
			s.out.More, s.done = true, !s.window.Whole
			return
		}
		text, s.out.Cut = cutRune(text, s.window.MaxBytes), true
	}
	s.add(text, 1, census)
}

// decode returns raw as text, which may be raw itself, and what was then met in
// all. It is good until the next call.
func (s *scanner) decode(raw []byte) ([]byte, Census) {
	census, format := s.out.Census, s.out.Format
	if format.Wide() {
		format = Narrow // as the scanner made it
	}
	text := raw
	if n := verbatim(raw, &census); n < len(raw) {
		census = s.out.Census
		s.decoded = format.appendDecoded(s.decoded[:0], raw, &census)
		text = s.decoded
	} else {
		census.Bytes += n
	}
	census.LF, census.CRLF = s.out.Census.LF, s.out.Census.CRLF
	return text, census
}

// add puts lines, of which the current one is the first, into the text.
func (s *scanner) add(text []byte, lines int, census Census) {
	s.grow(len(text), lines)
	s.text.Write(text)
	s.out.Census = census
	s.out.Last = s.number + lines - 1
	s.closed = s.closed || s.out.Last-s.out.First+1 >= s.window.Count
	s.done = s.done || census.Binary()
}

// grow makes room for text of so many lines and, once it is needed, for those
// that follow if they are as long.
func (s *scanner) grow(size, lines int) {
	if s.text.Cap()-s.text.Len() >= size {
		return
	}
	room := s.window.MaxBytes - s.text.Len()
	if left := s.wanted(); left < room {
		room = min(room, left*(size/lines+1))
	}
	if s.window.Length > 0 {
		room = int(min(int64(room), s.window.Length))
	}
	s.text.Grow(max(size, room))
}

// cutRune shortens text to n bytes or a little less, between two characters.
func cutRune(text []byte, n int) []byte {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:min(n, len(text))]
}

func (s *scanner) finish() {
	if s.done {
		return
	}
	if s.number >= s.window.First && len(s.line) > 0 {
		s.commit()
	}
	s.out.Complete = true
	s.out.Total = s.number
	if !s.any || s.last == '\n' {
		s.out.Total--
	}
	s.out.More = s.out.Last < s.out.Total && s.out.First <= s.out.Total
}

func (s *scanner) result() Lines {
	s.out.Text = s.text.String()
	return s.out
}

// narrow makes UTF-8 of UTF-16 and leaves other data as it is.
func (s *scanner) narrow(data []byte, end bool) []byte {
	if !s.out.Format.Wide() {
		return data
	}
	data = append(s.carry, data...)
	whole := len(data)
	if !end {
		// An odd byte, and a first half of a pair, wait for the rest.
		whole -= whole % 2
		if whole >= 2 && s.out.Format.order().Uint16(data[whole-2:])&0xfc00 == 0xd800 {
			whole -= 2
		}
		s.carry = append([]byte(nil), data[whole:]...)
	}
	text := make([]byte, 0, whole)
	for at := 0; at < whole; {
		r, size := s.out.Format.wide(data[at:whole], &s.out.Census)
		text = utf8.AppendRune(text, r)
		at += size
	}
	return text
}
