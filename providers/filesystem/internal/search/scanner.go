package search

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/text/encoding/unicode"

	"github.com/agentco/agent/providers/filesystem/internal/text"
)

// Options say what of a file is wanted.
type Options struct {
	// Matcher is what is looked for.
	Matcher *Matcher
	// Lines is whether the lines that match are wanted; else reading ends at the
	// first match, unless Count is set.
	Lines, Count bool
	// Before and After are how many lines around each match are wanted.
	Before, After int
	// Keep is how many matches are kept at most; all are counted.
	Keep int
	// Room is how many bytes of text are kept at most, not counting the first
	// Skip matches.
	Room, Skip int
	// Stopped ends the search early once it is true.
	Stopped *atomic.Bool
}

// File is what was found in one.
type File struct {
	Matches  int // lines, or with a pattern across lines, places
	Lines    []Line
	Binary   bool // it is no text and was not searched to its end
	TooLarge bool // it is too large for a pattern across lines
}

// Line is one that matches, with what is around it.
type Line struct {
	Number, End   int // from 1; the last one if the match spans lines
	Text          string
	Clipped       bool // Text is only what is around the match
	Before, After []string
}

// sizes are those of blocks, in bytes.
type sizes struct {
	first int // what is read at once
	line  int // how much of a line is looked at at once
	// overlap is how much of a longer line is looked at twice, so that a match is
	// not cut in two.
	overlap int
	whole   int // how much is read for a pattern across lines
}

// The largest pieces bound how long an expression runs before it is known that
// nobody waits any more.
var usual = sizes{first: 64 << 10, line: 256 << 10, overlap: 64 << 10, whole: 4 << 20}

// scanner searches one file.
type scanner struct {
	Options
	sizes   sizes
	r       io.Reader
	block   []byte // what was read; its capacity is the memory
	ended   bool
	number  int  // of the line at the block's start, less one
	counted int  // up to where in the block lines have been counted
	shown   int  // up to where in the block lines are in the result
	wanted  int  // lines after the last match that are still to come
	middle  bool // the block begins within a line
	passed  bool // which has matched
	done    bool
	out     File
	search  search
}

var blocks = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, usual.first)) }}

// Search reads r and returns what is in it. When it fails, what was found up to
// there is returned too.
func Search(r io.Reader, o Options) (File, error) {
	memory := blocks.Get().(*bytes.Buffer)
	defer blocks.Put(memory)
	return scan(r, o, usual, memory.AvailableBuffer())
}

func scan(r io.Reader, o Options, sizes sizes, block []byte) (File, error) {
	s := scanner{Options: o, sizes: sizes, r: r, block: block, search: search{finder: o.Matcher.finder}}
	err := s.run()
	if s.out.Binary {
		s.out.Lines, s.out.Matches = nil, 0
	}
	return s.out, err
}

func (s *scanner) run() error {
	if err := s.fill(); err != nil {
		return err
	}
	switch format := text.Detect(s.block); {
	case format.Wide():
		if err := s.decode(format); err != nil {
			return err
		}
	default:
		s.shown = len(format.Mark())
		s.counted = s.shown
	}
	if s.Matcher.multiline {
		return s.whole()
	}
	for at, checked := s.shown, 0; ; {
		if bytes.IndexByte(s.block[checked:], 0) >= 0 {
			s.out.Binary = true
			return nil
		}
		end := s.lines()
		s.look(at, end)
		if s.done || s.ended || s.Stopped != nil && s.Stopped.Load() {
			return nil
		}
		at = s.shift(end)
		checked = len(s.block)
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// decode reads the rest as the UTF-8 that it stands for.
func (s *scanner) decode(format text.Format) error {
	order := unicode.LittleEndian
	if format == text.UTF16BE {
		order = unicode.BigEndian
	}
	raw := io.MultiReader(bytes.NewReader(bytes.Clone(s.block)), s.r)
	s.r = unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(raw)
	s.block, s.ended = s.block[:0], false
	return s.fill()
}

// fill reads until the block is full or the file has ended.
func (s *scanner) fill() error {
	for len(s.block) < cap(s.block) && !s.ended {
		n, err := s.r.Read(s.block[len(s.block):cap(s.block)])
		s.block = s.block[:len(s.block)+n]
		if err == io.EOF { //nolint:errorlint // as io.Reader says
			s.ended = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lines is where the last whole line in the block ends.
func (s *scanner) lines() int {
	if s.ended {
		return len(s.block)
	}
	return bytes.LastIndexByte(s.block, '\n') + 1
}

// look finds the matching lines between two places.
func (s *scanner) look(at, end int) {
	if s.middle {
		if at = s.rest(at, end); s.done || s.middle {
			return
		}
	}
	if end == 0 && !s.ended { // the block is within one line
		s.long(at)
		return
	}
	s.search.reset(s.block[:end])
	for at < end {
		if at = s.search.from(at); at < 0 {
			break
		}
		start := bytes.LastIndexByte(s.block[:at], '\n') + 1
		start = max(start, s.shownStart())
		stop := end
		if i := bytes.IndexByte(s.block[at:end], '\n'); i >= 0 {
			stop = at + i
		}
		if s.Matcher.matches(trimCR(s.block[start:stop])) && s.found(start, stop) {
			return
		}
		at = stop + 1
	}
	s.after(end)
}

// shownStart is where the first line begins: behind a byte-order mark.
func (s *scanner) shownStart() int {
	if s.number == 0 && s.counted < 4 {
		return s.counted
	}
	return 0
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

// shift moves what is still needed to the start of the block, with more memory
// if that is all of it. It returns where to go on.
func (s *scanner) shift(end int) int {
	if end == 0 {
		return s.stretch()
	}
	s.count(end)
	keep := end
	for n := 0; n < s.Before && keep > 0; n++ {
		line := bytes.LastIndexByte(s.block[:keep-1], '\n') + 1
		if len(s.block)-line > cap(s.block)/2 {
			break // there must be room to read on
		}
		keep = line
	}
	for kept := keep; kept < end; { // lines that are in the block again
		kept += bytes.IndexByte(s.block[kept:end], '\n') + 1
		s.number--
	}
	s.shown = max(s.shown-keep, 0)
	s.block = s.block[:copy(s.block, s.block[keep:])]
	s.counted = 0
	return end - keep
}

// stretch makes room for a line that fills the block, or lets go of most of it.
func (s *scanner) stretch() int {
	if cap(s.block) < s.sizes.line {
		s.block = append(make([]byte, 0, min(4*cap(s.block), s.sizes.line)), s.block...)
		return s.shownStart()
	}
	s.block = s.block[:copy(s.block, s.block[len(s.block)-s.sizes.overlap:])]
	s.middle, s.shown, s.counted = true, 0, 0
	return 0
}

// count counts the lines up to a place.
func (s *scanner) count(to int) {
	if to > s.counted {
		s.number += bytes.Count(s.block[s.counted:to], []byte{'\n'})
		s.counted = to
	}
}
