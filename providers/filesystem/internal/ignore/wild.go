package ignore

import "strings"

// verdict is what matching a part of a pattern came to. The last two tell an
// asterisk further left that trying more characters is of no use.
type verdict int

const (
	matched verdict = iota
	different
	hopeless      // whatever the asterisks take
	hopelessAbove // for an asterisk that stops at a slash
)

// wild matches a pattern the way git's wildmatch does. It differs from the
// globs of a shell in what `**`, backslashes and brackets mean at their edges,
// so no library will do.
type wild struct {
	pattern, text string
	path          bool // a slash is matched by a slash and by ** only
	fold          bool // ASCII letters of both cases are one
}

func (w *wild) matches() bool { return w.from(0, 0) == matched }

// at is a byte of the pattern, 0 past its end.
func (w *wild) at(p int) byte {
	if p < len(w.pattern) {
		return w.pattern[p]
	}
	return 0
}

// char is a byte of the text, 0 past its end.
func (w *wild) char(t int) byte {
	if t < len(w.text) {
		return w.folded(w.text[t])
	}
	return 0
}

func (w *wild) folded(c byte) byte {
	if w.fold && 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// from matches the pattern from p on with the text from t on.
func (w *wild) from(p, t int) verdict {
	for start := p; p < len(w.pattern); p, t = p+1, t+1 {
		c, ch := w.folded(w.pattern[p]), w.char(t)
		if t >= len(w.text) && c != '*' {
			return hopeless
		}
		switch c {
		case '*':
			var v verdict
			if p, t, v = w.star(start, p, t); v != different {
				return v
			}
		case '[':
			end, in := w.class(p+1, ch)
			switch {
			case end < 0:
				return hopeless
			case !in || w.path && ch == '/':
				return different
			}
			p = end
		case '?':
			if w.path && ch == '/' {
				return different
			}
		case '\\':
			p++
			if ch != w.at(p) {
				return different
			}
		default:
			if ch != c {
				return different
			}
		}
	}
	if t < len(w.text) {
		return different
	}
	return matched
}

// star matches from the asterisks at p on. The verdict different means that
// matching goes on behind the slashes at the places returned.
func (w *wild) star(start, p, t int) (int, int, verdict) {
	before, slashes := p-1, !w.path
	p++
	if w.at(p) == '*' {
		for w.at(p) == '*' {
			p++
		}
		edge := p == len(w.pattern) || w.at(p) == '/' || w.at(p) == '\\' && w.at(p+1) == '/'
		if w.path && edge && (before < start || w.pattern[before] == '/') {
			if w.at(p) == '/' && w.from(p+1, t) == matched { // ** that stands for no directory
				return p, t, matched
			}
			slashes = true
		}
	}
	rest := w.text[min(t, len(w.text)):]
	switch {
	case p == len(w.pattern) && !slashes && strings.IndexByte(rest, '/') >= 0:
		return p, t, hopelessAbove
	case p == len(w.pattern):
		return p, t, matched
	case !slashes && w.at(p) == '/':
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return p, t, hopeless
		}
		return p, t + slash, different
	}
	return p, t, w.stretch(p, t, slashes)
}

// stretch tries how much an asterisk before p takes of the text from t on.
func (w *wild) stretch(p, t int, slashes bool) verdict {
	for ; t < len(w.text); t++ {
		if c := w.folded(w.pattern[p]); !special(c) { // there is one place it can end
			for t < len(w.text) && w.char(t) != c && (slashes || w.text[t] != '/') {
				t++
			}
			if w.char(t) != c {
				if slashes {
					return hopeless
				}
				return hopelessAbove
			}
		}
		switch v := w.from(p, t); {
		case v == different:
			if !slashes && w.text[t] == '/' {
				return hopelessAbove
			}
		case !slashes || v != hopelessAbove:
			return v
		}
	}
	return hopeless
}

// class reads the bracket whose content starts at p. It returns where it ends,
// or -1 if it does not, and whether ch is in it.
func (w *wild) class(p int, ch byte) (end int, in bool) {
	negated := w.at(p) == '!' || w.at(p) == '^'
	if negated {
		p++
	}
	var before byte // what a range would start with
	for first := true; first || w.at(p) != ']'; first = false {
		c := w.at(p)
		switch {
		case c == 0:
			return -1, false
		case c == '\\':
			p++
			if c = w.at(p); c == 0 {
				return -1, false
			}
			in = in || ch == c
		case c == '-' && before != 0 && w.at(p+1) != 0 && w.at(p+1) != ']':
			p++
			if w.at(p) == '\\' {
				p++
			}
			if w.at(p) == 0 {
				return -1, false
			}
			in = in || w.between(before, w.at(p), ch)
			c = 0
		case c == '[' && w.at(p+1) == ':':
			length := strings.IndexByte(w.pattern[p+2:], ']')
			if length < 0 {
				return -1, false
			}
			name, closed := strings.CutSuffix(w.pattern[p+2:p+2+length], ":")
			if !closed { // an ordinary bracket that holds a bracket
				in = in || ch == c
				break
			}
			is := classes[name]
			if is == nil {
				return -1, false
			}
			in = in || is(ch) || w.fold && name == "upper" && classes["lower"](ch)
			p, c = p+2+length, 0
		default:
			in = in || ch == c
		}
		before = c
		p++
	}
	return p, in != negated
}

func (w *wild) between(low, high, ch byte) bool {
	upper := ch
	if w.fold && 'a' <= ch && ch <= 'z' {
		upper = ch - 'a' + 'A'
	}
	return low <= ch && ch <= high || low <= upper && upper <= high
}

// classes are those of POSIX, in ASCII whatever the locale, as in git.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return letter(c) || digit(c) },
	"alpha":  letter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  digit,
	"graph":  func(c byte) bool { return ' ' < c && c < 0x7f },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return ' ' <= c && c < 0x7f },
	"punct":  func(c byte) bool { return ' ' < c && c < 0x7f && !letter(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// special reports whether c is more than itself in a pattern.
func special(c byte) bool { return c == '*' || c == '?' || c == '[' || c == '\\' }
