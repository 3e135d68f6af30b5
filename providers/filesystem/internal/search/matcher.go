// Package search finds lines in files.
//
// Most files hold nothing of what is looked for, so the work is to pass over
// them quickly:
//
//	pattern ──▶ texts that every match holds ──▶ finder: the rarest byte of each
//	        └─▶ regexp, asked only about the lines in which the finder stops
//
// Files are read in blocks, in which whole lines are looked at. A file may be of
// any length and its lines too.
package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentco/agent/providers/filesystem/internal/text"
)

// Query says what is looked for.
type Query struct {
	Pattern    string // in the syntax of RE2
	Literal    bool   // the pattern is the text itself
	IgnoreCase bool
	Multiline  bool // a match may span lines, and a dot is any character
}

// SyntaxError says where a pattern cannot be read.
type SyntaxError struct {
	Pattern string
	Column  int // of the character at fault, from 1; 0 if it is nowhere in particular
	Problem string
}

// Error says what is wrong.
func (e *SyntaxError) Error() string {
	if e.Column == 0 {
		return e.Problem
	}
	return fmt.Sprintf("%s, at character %d of %q", e.Problem, e.Column, e.Pattern)
}

// Matcher finds matches. It may be used from several goroutines.
type Matcher struct {
	multiline bool
	re        *regexp.Regexp
	finder    finder
	plain     bool // what the finder finds is a match
	starts    bool // it asks for the start of a line
	ends      bool // it asks for the end of one
}

// Compile makes a query ready. The error is a [*SyntaxError].
func Compile(q Query) (*Matcher, error) {
	if q.Pattern == "" {
		return nil, &SyntaxError{q.Pattern, 0, "the pattern is empty"}
	}
	pattern, flags := q.Pattern, syntax.Perl
	if q.Literal {
		pattern = regexp.QuoteMeta(q.Pattern)
	}
	if q.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	if q.Multiline {
		pattern = "(?ms:" + pattern + ")"
	}
	// The pattern as it was written comes first, for the place of a fault.
	if _, err := syntax.Parse(q.Pattern, flags); err != nil && !q.Literal {
		return nil, explain(q.Pattern, err)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	m := &Matcher{re: re, multiline: q.Multiline}
	m.starts = asks(tree, syntax.OpBeginLine, syntax.OpBeginText)
	m.ends = asks(tree, syntax.OpEndLine, syntax.OpEndText)
	needed := literalsOf(tree.Simplify())
	if !q.Multiline && needed.hold("\n") {
		return nil, &SyntaxError{q.Pattern, 0, "the pattern wants a line end, which no line holds; set multiline"}
	}
	m.finder = newFinder(needed)
	m.plain = tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 && m.finder.only(string(tree.Rune))
	return m, nil
}

func asks(re *syntax.Regexp, ops ...syntax.Op) bool {
	return slices.Contains(ops, re.Op) || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return asks(sub, ops...) })
}

// explain says where the fault of a pattern is.
func explain(pattern string, err error) error {
	var s *syntax.Error
	if !errors.As(err, &s) {
		return &SyntaxError{pattern, 0, err.Error()}
	}
	at := strings.Index(pattern, s.Expr)
	problem := fmt.Sprintf("%s: `%s`", s.Code, s.Expr)
	if s.Code == syntax.ErrMissingParen || s.Code == syntax.ErrUnexpectedParen {
		at, problem = parenthesis(pattern), s.Code.String()
	}
	if at < 0 {
		return &SyntaxError{pattern, 0, problem}
	}
	return &SyntaxError{pattern, utf8.RuneCountInString(pattern[:at]) + 1, problem}
}

// parenthesis is where the one is that has no counterpart, or -1.
func parenthesis(pattern string) int {
	var open []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(pattern, i)
		case '(':
			open = append(open, i)
		case ')':
			if len(open) == 0 {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// classEnd is where the class that begins at i ends.
func classEnd(pattern string, i int) int {
	for first := i + 1; i < len(pattern)-1; {
		i++
		switch pattern[i] {
		case '\\':
			i++
		case '^':
			if i == first {
				first++
			}
		case ']':
			if i > first {
				return i
			}
		}
	}
	return i
}

// in returns where the line matches, or nil. Bytes of another encoding are read
// as the characters they are in Windows-1252; shown is the line then, decoded.
func (m *Matcher) in(line []byte) (place []int, shown []byte) {
	if shown = decoded(line); m.multiline {
		return nil, shown
	}
	return m.re.FindIndex(shown), shown
}

// matches reports whether the line matches.
func (m *Matcher) matches(line []byte) bool { return m.plain || m.re.Match(decoded(line)) }

func decoded(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	return text.NewView(line).Text
}
