package lineedit

import "strings"

// finding is a search through the history, backwards.
type finding struct {
	query  string
	before buffer // what was there when it began
	at     int    // where in the history it is
	failed bool
	// missing is set when the query is in no line at all that was looked at, so that there is nothing to run.
	missing bool
}

// find does what a key does in a search. Any key that edits takes what was found and does what it does otherwise.
func (l *line) find(k key) bool {
	f := l.finding
	if f.missing && k.command == enter {
		k.command = escape
	}
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

// seek shows the newest line with the query in it that is not newer than the one at a place. Without one, a line that has
// it stays; else what was there before is.
func (l *line) seek(from int) {
	f := l.finding
	if f.query == "" {
		l.buffer, f.at, f.failed, f.missing = f.before, len(l.history.lines), false, false
		return
	}
	for i := min(from, len(l.history.lines)-1); i >= 0; i-- {
		if found := strings.Index(l.history.lines[i], f.query); found >= 0 {
			l.text, l.at = l.history.lines[i], found
			f.at, f.failed, f.missing = i, false, false
			return
		}
	}
	f.failed, f.missing = true, f.missing || !strings.Contains(l.text, f.query)
	if f.missing {
		l.buffer, f.at = f.before, len(l.history.lines)
	}
}
