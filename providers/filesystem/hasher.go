package main

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
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

func (h *hasher) sum() string { return hex.EncodeToString(h.hash.Sum(nil)) }
