// Package ledger remembers which state of which file a session has seen, and
// lets one writer at a time at a file. Paths are resolved ones: all spellings
// of a file are one entry and one lock.
package ledger

import (
	"container/list"
	"sync"
	"time"
)

// Stamp tells one state of a file from another.
type Stamp struct {
	SHA256  string // of the whole file, empty if it was too large
	Size    int64
	ModTime time.Time
}

// Same reports whether a and b are the same state, as far as can be told.
func (a Stamp) Same(b Stamp) bool {
	if a.SHA256 != "" && b.SHA256 != "" {
		return a.SHA256 == b.SHA256
	}
	return a.Size == b.Size && a.ModTime.Equal(b.ModTime)
}

// remembered bounds a ledger. What has been forgotten must be read again.
const remembered = 1 << 15

// Ledger is what sessions have seen. The zero value is empty; it is safe for
// concurrent use.
type Ledger struct {
	mu      sync.Mutex
	entries map[key]*list.Element
	order   list.List // the latest first
}

type key struct{ session, path string }

type entry struct {
	key   key
	stamp Stamp
}

// Saw notes that the session knows this state of the file.
func (l *Ledger) Saw(session, path string, s Stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := key{session, path}
	if e, ok := l.entries[k]; ok {
		e.Value = entry{k, s}
		l.order.MoveToFront(e)
		return
	}
	if l.entries == nil {
		l.entries = map[key]*list.Element{}
	}
	l.entries[k] = l.order.PushFront(entry{k, s})
	if l.order.Len() > remembered {
		delete(l.entries, l.order.Remove(l.order.Back()).(entry).key)
	}
}

// Last returns the state of the file that the session saw last.
func (l *Ledger) Last(session, path string) (Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[key{session, path}]
	if !ok {
		return Stamp{}, false
	}
	return e.Value.(entry).stamp, true
}
