package search

import (
	"bytes"
	"unicode/utf8"
)

// clipTo is how much of a line is shown, in bytes.
const clipTo = 2000

// found notes the match in the line between two places. It reports whether
// nothing more is wanted of the file.
func (s *scanner) found(start, end int) bool {
	s.out.Matches++
	switch {
	case !s.Lines && !s.Count:
		s.done = true
		return true
	case !s.wants():
		return false
	}
	s.after(start)
	s.count(start)
	line := Line{Number: s.number + 1, Before: s.before(start)}
	s.keep(line, trimCR(s.block[start:end]))
	s.shown, s.wanted = min(end+1, len(s.block)), s.After
	return false
}

// wants reports whether one more match is kept.
func (s *scanner) wants() bool {
	return s.Lines && s.out.Matches <= s.Keep && (s.Room > 0 || s.out.Matches <= s.Skip)
}

// keep adds a line to the result, clipped around its match.
func (s *scanner) keep(line Line, raw []byte) {
	place, shown := s.Matcher.in(raw)
	line.Text, line.Clipped = clip(shown, place)
	if s.out.Matches > s.Skip {
		s.Room -= len(line.Text)
	}
	s.out.Lines = append(s.out.Lines, line)
}

// before are the lines in front of a match that have not been shown.
func (s *scanner) before(start int) (lines []string) {
	first := start
	for n := 0; n < s.Before && first > s.shown; n++ {
		first = max(bytes.LastIndexByte(s.block[:first-1], '\n')+1, s.shown)
	}
	for first < start {
		end := first + bytes.IndexByte(s.block[first:], '\n')
		lines = append(lines, s.around(first, end))
		first = end + 1
	}
	return lines
}

// after gives the last match the lines behind it, as far as a place.
func (s *scanner) after(end int) {
	for s.wanted > 0 && s.shown < end {
		stop := end
		if i := bytes.IndexByte(s.block[s.shown:end], '\n'); i >= 0 {
			stop = s.shown + i
		}
		last := &s.out.Lines[len(s.out.Lines)-1]
		last.After = append(last.After, s.around(s.shown, stop))
		s.shown = stop + 1
		s.wanted--
	}
}

func (s *scanner) around(start, end int) string {
	text, _ := clip(decoded(trimCR(s.block[start:end])), nil)
	s.Room -= len(text)
	return text
}

// clip is the part of a line around its match, or its beginning, cut between
// characters.
func clip(line []byte, place []int) (string, bool) {
	if len(line) <= clipTo {
		return string(line), false
	}
	start := 0
	if len(place) == 2 {
		start = max(0, place[0]-max(0, clipTo-(place[1]-place[0]))/2)
		start = min(start, len(line)-clipTo)
	}
	end := start + clipTo
	for start < end && !utf8.RuneStart(line[start]) {
		start++
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return string(line[start:end]), true
}

// long looks at a block that lies within one line. Where a pattern wants the
// start or the end of a line, the ends of the block are neither.
func (s *scanner) long(at int) {
	if cap(s.block) < s.sizes.line {
		return // it will be looked at with more of it
	}
	s.inside(s.block[at:], false)
}

// rest looks at what belongs to a line that began in an earlier block. It
// returns where the next line begins.
func (s *scanner) rest(at, end int) int {
	stop, more := len(s.block), !s.ended
	if i := bytes.IndexByte(s.block[at:], '\n'); i >= 0 {
		stop, more = at+i, false
	}
	s.inside(trimCR(s.block[at:stop]), !more)
	if more {
		return at
	}
	s.middle, s.passed = false, false
	s.shown = min(stop+1, len(s.block))
	return min(stop+1, end)
}

// inside looks at a part of a long line, once it has not matched before.
func (s *scanner) inside(part []byte, last bool) {
	if s.passed || s.search.missing(part) {
		return
	}
	place, shown := s.Matcher.in(part)
	if place == nil || s.middle && s.Matcher.starts && place[0] == 0 || !last && s.Matcher.ends && place[1] == len(shown) {
		return
	}
	s.passed = true
	s.out.Matches++
	if s.done = !s.Lines && !s.Count; !s.done && s.wants() {
		s.keep(Line{Number: s.number + 1}, part)
		s.out.Lines[len(s.out.Lines)-1].Clipped = true
	}
}

func (f finder) missing(part []byte) bool {
	s := search{finder: f}
	s.reset(part)
	return s.from(0) < 0
}
