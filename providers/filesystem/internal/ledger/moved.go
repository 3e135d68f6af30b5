package ledger

import (
	"path/filepath"
	"strings"
)

// Moved says that what was at from, and all below it, is at to now. What
// sessions know of it moves along; what was at to is forgotten.
func (l *Ledger) Moved(from, to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, e := range l.entries {
		if _, ok := below(to, k.path); ok {
			delete(l.entries, k)
			l.order.Remove(e)
		}
	}
	for k, e := range l.entries {
		if rel, ok := below(from, k.path); ok {
			moved := key{k.session, to + rel}
			delete(l.entries, k)
			l.entries[moved] = e
			e.Value = entry{moved, e.Value.(entry).stamp}
		}
	}
}

// below returns what comes after dir in path, if path is dir or lies in it.
func below(dir, path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, dir)
	return rest, ok && (rest == "" || rest[0] == filepath.Separator)
}
