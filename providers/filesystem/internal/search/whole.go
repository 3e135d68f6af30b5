package search

import "bytes"

// whole looks for a pattern across lines in the whole file.
func (s *scanner) whole() error {
	for !s.ended {
		if len(s.block) > s.sizes.whole {
			s.out.TooLarge = true
			return nil
		}
		s.block = append(make([]byte, 0, min(4*cap(s.block), s.sizes.whole+1)), s.block...)
		if err := s.fill(); err != nil {
			return err
		}
	}
	body := s.block[s.shown:]
	if s.search.missing(body) {
		return nil
	}
	if bytes.IndexByte(body, 0) >= 0 {
		s.out.Binary = true
		return nil
	}
	body = decoded(body)
	if bytes.Contains(body, []byte("\r\n")) {
		body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	}
	s.block, s.shown, s.counted = body, 0, 0
	for at := 0; at < len(body) && !s.done; {
		place := s.Matcher.re.FindIndex(body[at:])
		if place == nil {
			break
		}
		at = s.span(at+place[0], at+place[1])
	}
	s.after(len(body))
	return nil
}

// span notes a match between two places, with the whole of the lines it is in,
// and returns where to go on.
func (s *scanner) span(from, to int) int {
	body := s.block
	start := bytes.LastIndexByte(body[:from], '\n') + 1
	last := max(to-1, from) // a line end at its end belongs to the line before
	end := len(body)
	if i := bytes.IndexByte(body[min(last, len(body)):], '\n'); i >= 0 {
		end = last + i
	}
	next := min(end+1, len(body))
	s.out.Matches++
	switch {
	case !s.Lines && !s.Count:
		s.done = true
		return next
	case !s.wants():
		return next
	}
	s.after(start)
	s.count(start)
	line := Line{Number: s.number + 1, Before: s.before(start)}
	if lines := bytes.Count(body[start:end], []byte{'\n'}); lines > 0 {
		line.End = line.Number + lines
	}
	line.Text, line.Clipped = clip(body[start:end], []int{from - start, min(to, end) - start})
	if s.out.Matches > s.Skip {
		s.Room -= len(line.Text)
	}
	s.out.Lines = append(s.out.Lines, line)
	s.shown, s.wanted = next, s.After
	return next
}
