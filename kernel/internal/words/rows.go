package words

// Rows finds out where a line ends whose rows come one by one. The zero value has none yet.
type Rows struct {
	quote   byte // that is open
	escaped bool // the last byte was a backslash that takes the next one's meaning
	goesOn  bool // the last row ended with a backslash
	inWord  bool
	comment bool
}

// Add takes the next row, with the line feed at its end, or several, and reports whether no more are needed.
func (r *Rows) Add(row string) bool {
	for i := range len(row) {
		r.next(row[i])
	}
	return r.quote == 0 && !r.escaped && !r.goesOn
}

func (r *Rows) next(c byte) {
	r.goesOn = false
	switch {
	case r.escaped:
		r.escaped = false
		r.goesOn = c == '\n' && r.quote == 0
		r.inWord = r.inWord || c != '\n'
	case r.quote != 0:
		if c == r.quote {
			r.quote = 0
		}
		r.escaped = c == '\\' && r.quote == '"'
	case c == '\n':
		r.inWord, r.comment = false, false
	case r.comment:
	case c == ' ' || c == '\t' || c == '\r':
		r.inWord = false
	case c == '#' && !r.inWord:
		r.comment = true
	case c == '\'' || c == '"':
		r.quote, r.inWord = c, true
	default:
		r.escaped = c == '\\'
		r.inWord = r.inWord || c != '\\'
	}
}
