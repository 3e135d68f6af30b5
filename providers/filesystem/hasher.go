package main

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync"
)

// hasher hashes what is read through it.
type hasher struct {
	io.Reader
	hash hash.Hash
}

func newHasher(r io.Reader) *hasher {
	h := sha256.New()
	return &hasher{Reader: io.TeeReader(r, h), hash: h}
}

// slowToHash is from how many bytes on a content is hashed beside what is done
// with it meanwhile: that takes about as long.
const slowToHash = 64 << 10

// hashed returns what gives the hash of body, which is not changed any more.
func hashed(body []byte) func() string {
	once := sync.OnceValue(func() string { return sum(body) })
	if len(body) >= slowToHash {
		go once()
	}
	return once
}

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

func (h *hasher) sum() string { return hex.EncodeToString(h.hash.Sum(nil)) }
