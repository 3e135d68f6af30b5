package secret

import (
	"bytes"
	"strings"
)

// Stream is a stream of bytes without the values of a set, wherever it was cut. The zero value hides nothing. It is used by
// one goroutine at a time.
type Stream struct {
	Set  *Set
	held []byte
}

// Next takes a part of the stream and returns what can be shown by now: an end that may be the beginning of a value is
// held back until it is known to be none.
func (s *Stream) Next(part []byte) []byte {
	if len(s.Set.list()) == 0 && len(s.held) == 0 {
		return part
	}
	whole := s.Set.Bytes(append(bytes.Clone(s.held), part...))
	keep := s.beginning(whole)
	s.held = bytes.Clone(whole[len(whole)-keep:])
	return whole[:len(whole)-keep]
}

// Rest is what was held back and is not to be continued.
func (s *Stream) Rest() []byte {
	rest := s.held
	s.held = nil
	return rest
}

// beginning is the length of the longest end of b that a value begins with.
func (s *Stream) beginning(b []byte) int {
	longest := 0
	for _, spelling := range s.Set.list() {
		for n := min(len(spelling)-1, len(b)); n > longest; n-- {
			if strings.HasPrefix(spelling, string(b[len(b)-n:])) {
				longest = n
				break
			}
		}
	}
	return longest
}
