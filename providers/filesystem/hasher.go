package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"sync"
)

// hasher hashes what is read through it, and counts it.
type hasher struct {
	from io.Reader
	hash hash.Hash
	size int64
}

func newHasher(r io.Reader) *hasher { return &hasher{from: r, hash: sha256.New()} }

// Read implements [io.Reader].
func (h *hasher) Read(p []byte) (int, error) {
	n, err := h.from.Read(p)
	h.hash.Write(p[:n]) //nolint:errcheck // a hash takes everything
	h.size += int64(n)
	return n, err
}

// Seek implements [io.Seeker], for going back to the beginning and no other place.
func (h *hasher) Seek(offset int64, whence int) (int64, error) {
	s, ok := h.from.(io.Seeker)
	if !ok || offset != 0 || whence != io.SeekStart {
		return 0, errors.ErrUnsupported
	}
	h.hash.Reset()
	h.size = 0
	return s.Seek(0, io.SeekStart)
}

func (h *hasher) sum() string { return hex.EncodeToString(h.hash.Sum(nil)) }

// hashed returns what gives the hash of body, which is not changed any more.
func hashed(body []byte) func() string { return beside(len(body), func() string { return sum(body) }) }

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

// slowToHash is from how many bytes on a content is hashed beside what is done
// with it meanwhile: that takes about as long.
const slowToHash = 64 << 10

// beside returns what gives the hash of so many bytes that hash makes, once.
func beside(size int, hash func() string) func() string {
	once := sync.OnceValue(hash)
	if size >= slowToHash {
		go once()
	}
	return once
}
