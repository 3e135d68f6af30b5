package undo

import (
	"errors"
	"io"
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

// place is where a content lies in the spool.
type place struct {
	spool    *spool
	at, size int64
	users    int // who reads it, and who keeps it
	dropped  bool
}

func (p *place) end() int64 { return p.at + p.size }

var errDropped = errors.New("it is not kept any more")

// put writes a content of so many bytes to a place of its own. dir makes the directory of the file.
func (s *spool) put(dir func() (string, error), content io.WriterTo, size int64) (*place, error) {
	p, err := s.reserve(dir, size)
	if err != nil {
		return nil, err
	}
	n, err := content.WriteTo(io.NewOffsetWriter(s.file, p.at))
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
	p := &place{spool: s, size: size, users: 1}
	i := 0
	for ; i < len(s.places) && s.places[i].at-p.at < size; i++ {
		p.at = s.places[i].end()
	}
	s.places = slices.Insert(s.places, i, p)
	s.length = max(s.length, p.end())
	return p, nil
}

// open reads the content. Its place stays until the reader is closed, also when it is dropped meanwhile.
func (p *place) open() (io.ReadCloser, error) {
	p.spool.mu.Lock()
	defer p.spool.mu.Unlock()
	if p.dropped {
		return nil, errDropped
	}
	p.users++
	return &reading{io.NewSectionReader(p.spool.file, p.at, p.size), p}, nil
}

// reading is a content that is read.
type reading struct {
	*io.SectionReader
	place *place
}

// Close lets go of the place. It is called once.
func (r *reading) Close() error {
	r.place.spool.mu.Lock()
	defer r.place.spool.mu.Unlock()
	r.place.left()
	return nil
}

// drop forgets the content. Once is enough, and more does no harm.
func (p *place) drop() {
	p.spool.mu.Lock()
	defer p.spool.mu.Unlock()
	if !p.dropped {
		p.dropped = true
		p.left()
	}
}

// left frees the place when nobody uses it any more, and gives back what the file has too much.
func (p *place) left() {
	if p.users--; p.users > 0 {
		return
	}
	s := p.spool
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

// close removes the file.
func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
