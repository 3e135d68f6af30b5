// Package ignore says what git would ignore.
//
//	Tree ──▶ Rules of a directory ──▶ Rules of one below it ──▶ …
//	  │ .git/info/exclude, core.excludesFile    each adds its .gitignore
//
// Whoever walks a tree asks for the [Rules] where it starts and goes on from
// there, and does not enter a directory that is ignored: what lies below one
// cannot be taken back by any pattern, and is never looked at here.
//
// A tree need not be a repository. What is under version control although a
// pattern is about it counts as ignored: the index is not read.
package ignore

import "strings"

// Rules are those that hold in one directory. Nil is no rules at all. They are
// never changed, and may be used from several goroutines.
type Rules struct {
	up       *Rules // weaker ones
	base     string // the directory that the patterns are relative to, with a slash
	patterns []pattern
	plain    map[string][]int // those that are a name without wildcards
	other    []int            // all others
	fold     bool
}

// with returns the rules of r and, stronger, those that body adds for what lies
// below dir.
func (r *Rules) with(dir string, body []byte, fold bool) *Rules {
	patterns := parse(body)
	if len(patterns) == 0 {
		return r
	}
	added := &Rules{up: r, base: strings.TrimSuffix(dir, "/") + "/", patterns: patterns, plain: map[string][]int{}, fold: fold}
	for i := range patterns {
		if p := &patterns[i]; p.name && p.literal == len(p.text) {
			key := added.key(p.text)
			added.plain[key] = append(added.plain[key], i)
		} else {
			added.other = append(added.other, i)
		}
	}
	return added
}

func (r *Rules) key(name string) string {
	if !r.fold {
		return name
	}
	folded := []byte(name)
	for i, c := range folded {
		folded[i] = lower(c)
	}
	return string(folded)
}

// Ignored reports whether name, which lies in dir, is ignored. The directory is
// an absolute path and not ignored itself.
func (r *Rules) Ignored(dir, name string, isDir bool) bool {
	var full string // made when it is needed, which is rare
	for ; r != nil; r = r.up {
		if i := r.last(dir, name, &full, isDir); i >= 0 {
			return !r.patterns[i].negated
		}
	}
	return false
}

// last is the number of the last pattern that is about the file, or -1.
func (r *Rules) last(dir, name string, full *string, isDir bool) int {
	best := -1
	for _, i := range r.plain[r.key(name)] {
		if isDir || !r.patterns[i].dirOnly {
			best = i
		}
	}
	for n := len(r.other) - 1; n >= 0 && r.other[n] > best; n-- {
		p := &r.patterns[r.other[n]]
		if p.dirOnly && !isDir {
			continue
		}
		rel := ""
		if !p.name {
			if *full == "" {
				*full = strings.TrimSuffix(dir, "/") + "/" + name
			}
			rel = (*full)[len(r.base):]
		}
		if p.matches(rel, name, r.fold) {
			return r.other[n]
		}
	}
	return best
}
