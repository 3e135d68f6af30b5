// Package undo keeps what writes have replaced, so that they can be taken back.
//
// The contents lie on disk, in a directory of this process alone, with mode
// 0600: the large ones in a file each, the others in one file together. A large
// one that nobody can change any more stays in the file that it was in, which is
// held open ([Held]). Memory holds what they belong to, and the small ones as long
// as there is room. All of it is bounded: the oldest records are dropped first.
package undo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// What a store holds at most. Beyond it the oldest goes.
const (
	maxRecords = 1000
	maxBytes   = 256 << 20
	// MaxFile is how large a content may be to be kept.
	MaxFile = 64 << 20
	// small is up to which size a content is held in memory, as long as those that
	// are have maxHeld bytes: making a file for it takes as long as the change.
	small   = 8 << 10
	maxHeld = 1 << 20
	// medium is up to which size contents share a file.
	medium = 256 << 10
)

// ErrTooLarge means that a content is larger than [MaxFile].
var ErrTooLarge = fmt.Errorf("it was larger than %d bytes, which are the most that is kept", MaxFile)

// Content is what a file held.
type Content struct {
	Size int64
	Mode fs.FileMode
	Link string // where it led, if it was a link
	// SHA256 is of the content. It is empty where what is kept can be nothing else.
	SHA256 string

	body  []byte // if it is in memory
	place *place // in a file that is open
	file  string // the file it has for itself
}

// Open reads the content. The caller closes it.
func (c *Content) Open() (io.ReadCloser, error) {
	switch {
	case c.place != nil:
		return c.place.open()
	case c.file != "":
		f, err := os.Open(c.file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errDropped
		}
		return f, err
	}
	return io.NopCloser(bytes.NewReader(c.body)), nil
}

// Record is one change of one path.
type Record struct {
	Session, Path string

	// Before is what was there. It is nil if nothing was, and also if it was not
	// kept: then Lost says why.
	Before *Content
	Lost   string
	// SHA256 is of what the change left there; empty: it left nothing.
	SHA256 string
	// From is where it came from, if it was moved, and Moved what it was then.
	From  string
	Moved fs.FileInfo
	// Made are the directories that were made for it, the lowest first.
	Made []string

	was *Record // before what was there got lost
}

// Store is the records of one process. The zero value keeps none of the
// contents, for want of a place; it is safe for concurrent use.
type Store struct {
	// Dir makes the directory for contents.
	Dir func() (string, error)

	mu      sync.Mutex
	records []*Record // the oldest first
	bytes   int64
	held    int64 // of these, in memory
	spool   spool
	open    atomic.Int64 // files that are held
}

// Close ends the store, and all that it kept.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.records) > 0 {
		s.remove(0)
	}
	return s.spool.close()
}

// Keep copies a content, until it is dropped.
func (s *Store) Keep(ctx context.Context, content io.Reader, size int64, mode fs.FileMode) (*Content, error) {
	switch {
	case size > MaxFile:
		return nil, ErrTooLarge
	case size == 0:
		return &Content{Mode: mode}, nil
	case s.Dir == nil:
		return nil, errors.New("there is no place to keep it")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if held, ok := content.(*bytes.Reader); ok && size > small && held.Len() <= medium { // without a copy
		return s.share(held, int64(held.Len()), mode)
	}
	if size > medium {
		return s.store(ctx, content, mode)
	}
	body := make([]byte, size+1)
	n, err := io.ReadFull(reader{ctx, content}, body)
	switch err {
	case nil: // it has grown since
		return s.store(ctx, io.MultiReader(bytes.NewReader(body), content), mode)
	case io.EOF, io.ErrUnexpectedEOF:
	default:
		return nil, err
	}
	if body = body[:n:n]; n <= small && s.roomFor(int64(n)) {
		return &Content{Size: int64(n), Mode: mode, body: body}, nil
	}
	return s.share(bytes.NewReader(body), int64(n), mode)
}

// share keeps a content in the file of many.
func (s *Store) share(content io.WriterTo, size int64, mode fs.FileMode) (*Content, error) {
	p, err := s.spool.put(s.Dir, content, size)
	if err != nil {
		return nil, err
	}
	return &Content{Size: size, Mode: mode, place: p}, nil
}

// roomFor reports whether as much may be held in memory.
func (s *Store) roomFor(size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held+size <= maxHeld
}

// store keeps a content in a file of its own.
func (s *Store) store(ctx context.Context, content io.Reader, mode fs.FileMode) (_ *Content, err error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if held, ok := content.(*bytes.Reader); ok { // all at once, without a copy
		n, err := held.WriteTo(f)
		return &Content{Size: n, Mode: mode, file: f.Name()}, err
	}
	n, err := io.Copy(f, io.LimitReader(reader{ctx, content}, MaxFile+1))
	if err == nil && n > MaxFile { // it has grown since
		err = ErrTooLarge
	}
	return &Content{Size: n, Mode: mode, file: f.Name()}, err
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Add makes r the last change of its path. The store drops its content some time.
func (s *Store) Add(r *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r)
	s.bytes += r.Before.size()
	s.held += r.Before.held()
	for len(s.records) > maxRecords || s.bytes > maxBytes {
		s.remove(0)
	}
}

// Last returns the last change that the session made at one of the paths, or nil.
func (s *Store) Last(session string, paths ...string) *Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.records) - 1; i >= 0; i-- {
		if r := s.records[i]; r.Session == session && slices.Contains(paths, r.Path) {
			return r
		}
	}
	return nil
}

// Drop forgets r, which has been taken back.
func (s *Store) Drop(r *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.records {
		if other == r || other.was == r {
			s.remove(i)
			return
		}
	}
}

// GiveWay drops all that takes room on the disk of which dir is, since a change that is being made has need of it. It reports
// whether that was anything. Records stay, and say what is lost.
func (s *Store) GiveWay(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Dir == nil {
		return false
	}
	if own, err := s.Dir(); err != nil || !oneDisk(own, dir) {
		return false
	}
	gave := false
	for i, r := range s.records {
		if r.Before == nil || r.Before.place == nil && r.Before.file == "" {
			continue
		}
		s.bytes -= r.Before.Size
		r.Before.Discard()
		// The record stays as it is for somebody who is taking it back now.
		lost := *r
		lost.Before, lost.Lost, lost.was = nil, "the disk was full when a later change was made", r
		s.records[i], gave = &lost, true
	}
	if gave {
		s.spool.giveBack()
	}
	return gave
}

func (s *Store) remove(i int) {
	r := s.records[i]
	s.bytes -= r.Before.size()
	s.held -= r.Before.held()
	if i == 0 { // as most: the others stay where they are
		s.records[0] = nil
		s.records = s.records[1:]
	} else {
		s.records = slices.Delete(s.records, i, i+1)
	}
	r.Before.Discard()
}

func (c *Content) size() int64 {
	if c == nil {
		return 0
	}
	return c.Size
}

func (c *Content) held() int64 {
	if c == nil {
		return 0
	}
	return int64(len(c.body))
}

// Discard removes a content that no record has taken.
func (c *Content) Discard() {
	switch {
	case c == nil:
	case c.place != nil:
		c.place.drop()
	case c.file != "":
		_ = os.Remove(c.file) // what stays goes with the directory
	}
}
