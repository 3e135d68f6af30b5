package undo

import (
	"errors"
	"io"
	"os"
	"sync"
)

var errDropped = errors.New("it is not kept any more")

// place is where a content lies: a part of a file. When nobody has need of it any more, neither who keeps the content nor who
// reads it, free is called.
type place struct {
	file     *os.File
	at, size int64
	free     func()

	mu      sync.Mutex
	readers int
	dropped bool
}

func (p *place) end() int64 { return p.at + p.size }

func (p *place) section() *io.SectionReader { return io.NewSectionReader(p.file, p.at, p.size) }

// open reads the content. Its place stays until the reader is closed, also when it is dropped meanwhile.
func (p *place) open() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dropped {
		return nil, errDropped
	}
	p.readers++
	return &reading{p.section(), p}, nil
}

// drop forgets the content. Once is enough, and more does no harm.
func (p *place) drop() {
	p.mu.Lock()
	free := !p.dropped && p.readers == 0
	p.dropped = true
	p.mu.Unlock()
	if free {
		p.free()
	}
}

// reading is a content that is read.
type reading struct {
	*io.SectionReader
	place *place
}

// Close lets go of the place. It is called once.
func (r *reading) Close() error {
	p := r.place
	p.mu.Lock()
	p.readers--
	free := p.dropped && p.readers == 0
	p.mu.Unlock()
	if free {
		p.free()
	}
	return nil
}
