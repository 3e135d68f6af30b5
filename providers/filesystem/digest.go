package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// digest is the hash of a file that is held in memory, of which a new content will be made: what that begins with too is not
// hashed again.
type digest struct {
	body []byte
	sum  func() string // it may have to wait for it
	// marks are the states of the hash after one stretch, after two and so on, once sum has returned.
	marks []hash.Cloner
}

// stretch is how much lies between two marks.
const stretch = 64 << 10

func newDigest(body []byte) *digest {
	d := &digest{body: body}
	d.sum = beside(len(body), d.run)
	return d
}

func (d *digest) run() string {
	h := sha256.New()
	rest := d.body
	for ; len(rest) > stretch; rest = rest[stretch:] {
		h.Write(rest[:stretch]) //nolint:errcheck // a hash takes everything
		d.mark(h)
	}
	h.Write(rest) //nolint:errcheck // a hash takes everything
	return hex.EncodeToString(h.Sum(nil))
}

func (d *digest) mark(h hash.Hash) {
	if c, ok := h.(hash.Cloner); ok {
		if mark, err := c.Clone(); err == nil {
			d.marks = append(d.marks, mark)
		}
	}
}

// next returns what gives the hash of body, which is made of what d is of. Of nil it is that of any body.
func (d *digest) next(body []byte) func() string {
	if d == nil || len(body) <= stretch {
		return hashed(body)
	}
	return beside(len(body), func() string {
		d.sum()
		h, rest := d.skip(body)
		h.Write(rest) //nolint:errcheck // a hash takes everything
		return hex.EncodeToString(h.Sum(nil))
	})
}

// skip returns the state of a hash that has taken what body and d begin with, but for less than a stretch, and what is left.
func (d *digest) skip(body []byte) (state hash.Hash, rest []byte) {
	n := 0
	for n < len(d.marks) && bytes.HasPrefix(body[n*stretch:], d.body[n*stretch:(n+1)*stretch]) {
		n++
	}
	if n > 0 {
		if mark, err := d.marks[n-1].Clone(); err == nil {
			return mark, body[n*stretch:]
		}
	}
	return sha256.New(), body
}
