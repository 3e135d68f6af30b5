package undo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// slack is how much longer than what is in it a spool may stay.
const slack = 16 << 20

// spool is one file for many contents of up to medium bytes. What is dropped leaves its place to the first that fits, and an
// empty spool has no bytes; so the file is bounded by how many contents there are.
type spool struct {
	mu     sync.Mutex
	file   *os.File
	length int64
	places []*place // in the order in which they lie
}

// put writes a content of so many bytes to a place of its own. dir makes the directory of the file.
func (s *spool) put(dir func() (string, error), content io.WriterTo, size int64) (*place, error) {
	p, err := s.reserve(dir, size)
	if err != nil {
		return nil, err
	}
	n, err := content.WriteTo(io.NewOffsetWriter(p.file, p.at))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		p.drop()
		return nil, err
	}
	return p, nil
}

// reserve finds the first place that is free.
func (s *spool) reserve(dir func() (string, error), size int64) (*place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		in, err := dir()
		if err != nil {
			return nil, err
		}
		if s.file, err = os.CreateTemp(in, ""); err != nil { // with mode 0600
			s.file = nil
			return nil, err
		}
	}
	p := &place{file: s.file, size: size}
	p.free = func() { s.free(p) }
	i := 0
	for ; i < len(s.places) && s.places[i].at-p.at < size; i++ {
		p.at = s.places[i].end()
	}
	s.places = slices.Insert(s.places, i, p)
	s.length = max(s.length, p.end())
	return p, nil
}

// free makes a place one that others may take, and gives back what the file has too much.
func (s *spool) free(p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.places, p); i >= 0 {
		s.places = slices.Delete(s.places, i, i+1)
	}
	end := int64(0)
	if n := len(s.places); n > 0 {
		end = s.places[n-1].end()
	}
	if s.length > end && (end == 0 || s.length-end > slack) && s.file.Truncate(end) == nil {
		s.length = end
	}
}

// giveBack gives the room of all places that are free back to the disk.
func (s *spool) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return
	}
	at := int64(0)
	for _, p := range s.places {
		punch(s.file, at, p.at-at)
		at = p.end()
	}
	if s.length > at && s.file.Truncate(at) == nil {
		s.length = at
	}
}

// close removes the file.
func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	removed := os.Remove(s.file.Name())
	if errors.Is(removed, fs.ErrNotExist) { // whoever empties the cache is free to
		removed = nil
	}
	return errors.Join(s.file.Close(), removed)
}
