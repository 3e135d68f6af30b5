package lineedit

import "strings"

// finding is a search through the history, backwards.
type finding struct {
	query  string
	before buffer // what was there when it began
	at     int    // where in the history it is
	failed bool
}

// find does what a key does in a search. Any key that edits takes what was found and does what it does otherwise.
func (l *line) find(k key) bool {
	f := l.finding
	switch k.command {
	case insert, paste:
		f.query += strings.ReplaceAll(k.text, "\n", " ")
		l.seek(f.at)
	case backspace:
		if f.query != "" {
			f.query = f.query[:before(f.query, len(f.query))]
		}
		l.seek(len(l.history.lines))
	case search:
		l.seek(f.at - 1)
	case escape, interrupt:
		l.buffer, l.finding = f.before, nil
	case nothing:
	default:
		l.history.at, l.finding = f.at, nil
		return false
	}
	return true
}

// seek shows the newest line with the query in it that is not newer than the one at a place.
func (l *line) seek(from int) {
	f := l.finding
	if f.query == "" {
		l.buffer, f.at, f.failed = f.before, len(l.history.lines), false
		return
	}
	for i := min(from, len(l.history.lines)-1); i >= 0; i-- {
		if found := strings.Index(l.history.lines[i], f.query); found >= 0 {
			l.text, l.at = l.history.lines[i], found
			f.at, f.failed = i, false
			return
		}
	}
	f.failed = true
}
