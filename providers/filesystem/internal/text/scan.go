package text

import (
	"bytes"
	"context"
	"io"
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

// beyond is how much more of a line is kept than may be returned.
const beyond = 2 * utf8.UTFMax

// Scan reads r up to the window's end, or its own. Memory does not depend on
// the length of the stream or its lines. It stops early at what is no text; the
// census tells.
func Scan(ctx context.Context, r io.Reader, w Window) (Lines, error) {
	s := scanner{window: w, number: 1, out: Lines{First: w.First, Last: w.First - 1}}
	buf := make([]byte, block)
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return s.result(), err
		}
		// A full block, so that its end cuts a character only where the stream's does.
		n, err := io.ReadFull(r, buf)
		data := buf[:n]
		if first {
			s.out.Format = Detect(data)
			data = data[len(s.out.Format.Mark()):]
		}
		end := err == io.EOF || err == io.ErrUnexpectedEOF
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
	window Window
	out    Lines
	number int    // of the current line
	text   []byte // the lines so far, decoded
	line   []byte // the current line as far as it is wanted
	carry  []byte // an UTF-16 character cut in two by the end of a block
	last   byte   // the last byte seen
	any    bool   // there was a byte
	closed bool   // the window is full
	done   bool   // nothing that follows can change the answer
}

func (s *scanner) feed(data []byte) {
	if len(data) == 0 {
		return
	}
	s.countLineEnds(data)
	for len(data) > 0 && !s.done {
		switch {
		case s.closed:
			s.out.More = true
			s.number += bytes.Count(data, []byte{'\n'})
			s.done = !s.window.Whole
			data = nil
		case s.number < s.window.First:
			data = s.skip(data)
		default:
			data = s.take(data)
		}
	}
}

func (s *scanner) countLineEnds(data []byte) {
	crlf := bytes.Count(data, []byte("\r\n"))
	if s.last == '\r' && data[0] == '\n' {
		crlf++
	}
	s.out.Census.CRLF += crlf
	s.out.Census.LF += bytes.Count(data, []byte{'\n'}) - crlf
	s.last, s.any = data[len(data)-1], true
}

// skip passes over lines before the window.
func (s *scanner) skip(data []byte) []byte {
	wanted := s.window.First - s.number
	if n := bytes.Count(data, []byte{'\n'}); n < wanted {
		s.number += n
		return nil
	}
	for range wanted {
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	s.number = s.window.First
	return data
}

// take adds to the current line, which is in the window.
func (s *scanner) take(data []byte) []byte {
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
		s.number++
	case len(part) > room && !s.window.Whole:
		s.commit()
		s.out.More, s.done = true, true
	}
	return data[len(part):]
}

// commit adds the current line to the text if it fits.
func (s *scanner) commit() {
	if s.closed {
		return
	}
	census, before, format := s.out.Census, len(s.text), s.out.Format
	if format.Wide() {
		format = Narrow // as the scanner made it
	}
	if len(s.line) >= s.window.MaxBytes+beyond { // what was kept may end inside a character
		s.line = wholeRunes(s.line)
	}
	s.text = format.appendDecoded(s.text, s.line, &census)
	census.LF, census.CRLF = s.out.Census.LF, s.out.Census.CRLF
	s.line = s.line[:0]
	if len(s.text) > s.window.MaxBytes {
		s.closed, s.out.Clipped = true, true
		if before > 0 {
			s.text, s.out.More, s.done = s.text[:before], true, !s.window.Whole
			return
		}
		s.text, s.out.Cut = cutRune(s.text, s.window.MaxBytes), true
	}
	s.out.Census = census
	s.out.Last = s.number
	s.closed = s.closed || s.out.Last-s.out.First+1 >= s.window.Count
	s.done = s.done || census.Binary()
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
	s.out.Text = string(s.text)
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
