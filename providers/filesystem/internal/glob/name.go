package glob

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// name matches the last part of a path. Most patterns are a piece of text with
// an asterisk before or behind it, or a few such.
type name struct {
	whole   string
	pieces  []piece
	complex bool
}

type piece struct {
	before, after string // of the asterisk; without one, before is the whole
	star          bool
}

func newName(pattern string) *name {
	n := &name{whole: pattern}
	for _, alternative := range alternatives(pattern) {
		var p piece
		p.before, p.after, p.star = strings.Cut(alternative, "*")
		n.pieces = append(n.pieces, p)
		n.complex = n.complex || strings.ContainsAny(p.before+p.after, `*?[]{}\`)
	}
	return n
}

// alternatives spells out one pair of braces. More than one stay as they are.
func alternatives(pattern string) []string {
	before, rest, found := strings.Cut(pattern, "{")
	inside, after, _ := strings.Cut(rest, "}")
	if !found || strings.ContainsAny(inside+after, `{}\[`) || strings.ContainsAny(before, `\[`) {
		return []string{pattern}
	}
	var all []string
	for choice := range strings.SplitSeq(inside, ",") {
		all = append(all, before+choice+after)
	}
	return all
}

func (n *name) matches(s string) bool {
	if n.complex {
		ok, err := doublestar.Match(n.whole, s)
		return ok && err == nil || s == n.whole
	}
	return s == n.whole || slices.ContainsFunc(n.pieces, func(p piece) bool { return p.matches(s) })
}

func (p piece) matches(s string) bool {
	if !p.star {
		return s == p.before
	}
	return len(s) >= len(p.before)+len(p.after) && strings.HasPrefix(s, p.before) && strings.HasSuffix(s, p.after)
}
