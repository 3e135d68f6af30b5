// Package buffer lends memory to those who hold a file whole, and lends it again when they are done with it: otherwise most
// of what an edit takes, beside the disk, would be to clear memory and to collect it.
package buffer

import "sync"

// What is smaller is cheap to make, and what is larger would be held on to for too long.
const (
	least = 64 << 10
	most  = 2 << 20
)

var pool sync.Pool

// Poison has what is given back overwritten. Tests set it before anything is taken, so that whoever goes on reading that finds
// out.
var Poison bool

// Take returns an empty slice with room for size bytes, and maybe more.
func Take(size int) []byte {
	if size >= least && size <= most {
		if b, ok := pool.Get().(*[]byte); ok && cap(*b) >= size && cap(*b) <= 2*size {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// Give takes back memory that nobody will look at any more, whoever made it.
func Give(b []byte) {
	b = b[:cap(b)]
	if Poison {
		for i := range b {
			b[i] = 0xdb
		}
	}
	if len(b) >= least && len(b) <= most {
		pool.Put(&b)
	}
}
