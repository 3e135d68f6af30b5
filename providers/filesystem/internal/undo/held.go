package undo

import (
	"io"
	"io/fs"
	"os"
)

// maxDescriptors is how many files are held open at most, and descriptorShare the part of those that the process may open
// which that is at most: one in so many.
const (
	maxDescriptors  = 256
	descriptorShare = 4
)

// Held is a file that is about to be replaced, held open: once no name means it any more and nobody can write to it, it keeps
// its content by itself, without a copy.
type Held struct{ place *place }

// Hold opens a file that has been found to be as info says, if it can keep its content: it is large, and lies on the file
// system on which a copy would, so that it takes no room elsewhere. Otherwise it returns nil. The caller ends with [Held.Keep]
// or [Held.Release].
func (s *Store) Hold(info fs.FileInfo, open func() (*os.File, error)) *Held {
	if info.Size() <= medium || info.Size() > MaxFile || s.Dir == nil || !s.openOneMore() {
		return nil
	}
	f, err := open()
	if err != nil {
		s.open.Add(-1)
		return nil
	}
	h := &Held{&place{file: f, size: info.Size(), free: func() {
		_ = f.Close() // nothing was written to it
		s.open.Add(-1)
	}}}
	if !s.keepsItself(f, info) {
		h.Release()
		return nil
	}
	return h
}

// keepsItself reports whether a file can, once it has lost its name.
func (s *Store) keepsItself(f *os.File, info fs.FileInfo) bool {
	now, err := f.Stat()
	if err != nil || !os.SameFile(now, info) {
		return false
	}
	dir, err := s.Dir()
	return err == nil && lone(now, dir)
}

// openOneMore takes one of the descriptors that there may be.
func (s *Store) openOneMore() bool {
	if s.open.Add(1) <= min(maxDescriptors, descriptors()/descriptorShare) {
		return true
	}
	s.open.Add(-1)
	return false
}

// Keep makes the file a content, now that it has been replaced. It does not if somebody may still change it: then it is still
// to be released.
func (h *Held) Keep(sha256 string, mode fs.FileMode) (*Content, bool) {
	if !settled(h.place.file) {
		return nil, false
	}
	return &Content{Size: h.place.size, Mode: mode, SHA256: sha256, place: h.place}, true
}

// Reader reads the file from its beginning.
func (h *Held) Reader() io.Reader { return h.place.section() }

// Release lets go of a file that has not become a content. Of nil it does nothing.
func (h *Held) Release() {
	if h != nil {
		h.place.drop()
	}
}
