package jail

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// quickDeny is a denyList for one who comes down a tree and asks about every
// name. It gives the same answers as matchesOne.
type quickDeny struct {
	rules []quickRule
	paths bool // some rule is about more than the last part
}

// quickRule is a rule most of which are a piece of plain text with an asterisk
// before or behind it.
type quickRule struct {
	denyRule
	before, after string // of the asterisk; without one, before is the whole
	star, complex bool
}

func (l denyList) quick() *quickDeny {
	q := &quickDeny{rules: make([]quickRule, len(l))}
	for i, rule := range l {
		r := quickRule{denyRule: rule}
		r.before, r.after, r.star = strings.Cut(rule.pattern, "*")
		r.complex = !rule.anywhere || strings.ContainsAny(r.before+r.after, `*?[]{}\`)
		q.rules[i] = r
		q.paths = q.paths || !rule.anywhere
	}
	return q
}

// denies reports whether name is denied in the directory whose path, with a
// slash, is prefix. That directory is not denied.
func (q *quickDeny) denies(prefix, name string) bool {
	if len(q.rules) == 0 {
		return false
	}
	path := ""
	if q.paths {
		path = fold(filepath.ToSlash(prefix + name))
	}
	name = fold(name)
	denied := false
	for i := range q.rules {
		if r := &q.rules[i]; r.allow == denied && r.matches(path, name) {
			denied = !r.allow
		}
	}
	return denied
}

func (r *quickRule) matches(path, name string) bool {
	switch {
	case r.complex:
		if !r.anywhere {
			name = path
		}
		ok, err := doublestar.Match(r.pattern, name)
		return ok && err == nil
	case !r.star:
		return name == r.before
	}
	return len(name) >= len(r.before)+len(r.after) && strings.HasPrefix(name, r.before) && strings.HasSuffix(name, r.after)
}
