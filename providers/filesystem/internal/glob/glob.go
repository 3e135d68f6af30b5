// Package glob matches the paths of a walk with patterns.
//
// A pattern knows `*` and `?`, which stop at a slash, `**` for any number of
// directories, `[a-z]`, `[!a]`, `{a,b}` and a backslash before any of these. A
// name that begins with a dot is a name like any other. What is in front of the
// first wildcard is not matched but is where a walk begins:
//
//	src/app/[locale]/**/*.ts
//	├─────────────┘  └─────┘ matched below it
//	└ base: also [locale], if a directory has that very name
package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// SyntaxError says where a pattern cannot be read.
type SyntaxError struct {
	Pattern string
	Column  int // of the character at fault, from 1
	Problem string
}

// Error says what is wrong.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, at character %d of %q", e.Problem, e.Column, e.Pattern)
}

// Pattern is one that is ready to match.
type Pattern struct {
	// Base is the directory below which it can match: "" is where it is used.
	Base string
	// Literal reports whether there is no wildcard at all.
	Literal bool

	rest     string
	segments []string // of rest
	name     *name    // if only the last part of a path counts
	deep     bool     // and in any directory
}

// Parse reads a pattern. Of a part with wildcards that is also the name of a
// directory, exists knows; without it the base is where the pattern is used. The
// error is a [*SyntaxError].
func Parse(pattern string, exists func(dir string) bool) (*Pattern, error) {
	if err := check(pattern); err != nil {
		return nil, err
	}
	p := &Pattern{}
	parts := strings.Split(clean(pattern), "/")
	n := 0
	for ; n < len(parts)-1 && exists != nil; n++ {
		if wildcards(parts[n]) && !exists(strings.Join(parts[:n+1], "/")) {
			break
		}
	}
	p.Base = strings.Join(parts[:n], "/")
	if n > 0 && p.Base == "" {
		p.Base = "/"
	}
	p.segments = parts[n:]
	p.rest = strings.Join(p.segments, "/")
	p.Literal = len(p.segments) == 1 && !wildcards(p.rest)
	for i, s := range p.segments {
		if s == ".." {
			at := utf8.RuneCountInString(strings.Join(parts[:n+i], "/")) + 2
			return nil, &SyntaxError{pattern, at, "`..` cannot follow a wildcard"}
		}
	}
	p.quick()
	return p, nil
}

// clean takes out what says nothing, and lets a directory stand for all in it.
func clean(pattern string) string {
	for strings.Contains(pattern, "//") {
		pattern = strings.ReplaceAll(pattern, "//", "/")
	}
	pattern = strings.ReplaceAll(pattern, "/./", "/")
	pattern = strings.TrimPrefix(pattern, "./")
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	return pattern
}

func wildcards(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// quick finds out whether matching needs no more than the last part of a path.
func (p *Pattern) quick() {
	last := p.segments[len(p.segments)-1]
	if strings.Contains(p.rest, "{") && strings.ContainsAny(p.rest, "/") && braceHasSlash(p.rest) {
		p.segments = nil // they are not what lies between slashes
		return
	}
	switch {
	case len(p.segments) == 1 && last != "**":
		p.name = newName(last)
	case p.rest == "**":
		p.name, p.deep = newName("*"), true
	case len(p.segments) == 2 && p.segments[0] == "**" && last != "**":
		p.name, p.deep = newName(last), true
	}
}

func braceHasSlash(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '/':
			if depth > 0 {
				return true
			}
		}
	}
	return false
}

// Match reports whether the file name in the directory rel, below the base,
// matches. A file whose path is the pattern itself does, too.
func (p *Pattern) Match(rel, name string) bool {
	if p.name != nil {
		return (p.deep || rel == "") && p.name.matches(name)
	}
	path := name
	if rel != "" {
		path = rel + "/" + name
	}
	ok, err := doublestar.Match(p.rest, path)
	return ok && err == nil || path == p.rest
}

// Enter reports whether anything in the directory rel, below the base, can
// match. It has been asked about the directories above.
func (p *Pattern) Enter(rel string) bool {
	if p.segments == nil || p.deep {
		return true
	}
	depth := strings.Count(rel, "/") + 1
	for _, s := range p.segments[:min(depth, len(p.segments))] {
		if strings.Contains(s, "**") {
			return true
		}
	}
	if depth >= len(p.segments) {
		return false
	}
	segment, name := p.segments[depth-1], rel[strings.LastIndexByte(rel, '/')+1:]
	ok, err := doublestar.Match(segment, name)
	return ok && err == nil || segment == name
}

// check finds what is wrong with a pattern.
func check(pattern string) error {
	at := func(i int, problem string) error {
		return &SyntaxError{pattern, utf8.RuneCountInString(pattern[:i]) + 1, problem}
	}
	if pattern == "" {
		return at(0, "the pattern is empty")
	}
	var braces []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case 0:
			return at(i, "a path cannot contain a NUL byte")
		case '\\':
			if i++; i == len(pattern) {
				return at(i-1, "a backslash needs a character behind it")
			}
		case '[':
			end := bracket(pattern[i:])
			if end < 0 {
				return at(i, "this bracket is not closed; write \\[ for the character")
			}
			i += end
		case '{':
			braces = append(braces, i)
		case '}':
			if len(braces) == 0 {
				return at(i, "this brace closes nothing; write \\} for the character")
			}
			braces = braces[:len(braces)-1]
		}
	}
	if len(braces) > 0 {
		return at(braces[len(braces)-1], "this brace is not closed; write \\{ for the character")
	}
	if !doublestar.ValidatePattern(pattern) {
		return at(0, "the pattern is malformed")
	}
	return nil
}

// bracket is where the bracket that begins s ends, or -1.
func bracket(s string) int {
	first := 1 // where a closing bracket would be a character
	if len(s) > 1 && (s[1] == '!' || s[1] == '^') {
		first = 2
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == ']' && i > first:
			return i
		}
	}
	return -1
}
