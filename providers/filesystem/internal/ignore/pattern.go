package ignore

import (
	"bytes"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	text    string // without the marks that the rest tells
	literal int    // bytes of text before its first wildcard
	negated bool
	dirOnly bool
	name    bool // without a slash: for the last part of a path
	suffix  bool // an asterisk and plain text
}

// parse reads the lines of an ignore file.
func parse(body []byte) (list []pattern) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(body) {
		text := strings.TrimSuffix(string(line), "\n")
		text = strings.TrimSuffix(text, "\r")
		text, _, _ = strings.Cut(text, "\x00")
		if strings.HasPrefix(text, "#") {
			continue
		}
		if p := parseLine(trimSpaces(text)); p.text != "" {
			list = append(list, p)
		}
	}
	return list
}

func parseLine(line string) (p pattern) {
	line, p.negated = strings.CutPrefix(line, "!")
	p.literal = len(line)
	if i := strings.IndexAny(line, `*?[\`); i >= 0 {
		p.literal = i
	}
	p.suffix = strings.HasPrefix(line, "*") && !strings.ContainsAny(line[1:], `*?[\`)
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.name = !strings.Contains(line, "/")
	p.literal = min(p.literal, len(line))
	if !p.name && line[0] == '/' {
		line, p.literal = line[1:], p.literal-1
	}
	p.text = line
	return p
}

// trimSpaces removes spaces from the end, save those behind a backslash.
func trimSpaces(line string) string {
	end := len(line)
	for i, run := 0, false; i < len(line); i++ {
		switch {
		case line[i] != ' ':
			run, end = false, len(line)
			if line[i] == '\\' {
				i++
			}
		case !run:
			run, end = true, i
		}
	}
	return line[:end]
}

// matches reports whether the pattern is about the path rel, whose last part is
// base.
func (p *pattern) matches(rel, base string, fold bool) bool {
	switch {
	case p.name && p.literal == len(p.text):
		return equal(p.text, base, fold)
	case p.name && p.suffix:
		tail := len(base) - len(p.text) + 1
		return tail >= 0 && equal(p.text[1:], base[tail:], fold)
	case p.name:
		w := wild{pattern: p.text, text: base, fold: fold}
		return w.matches()
	case p.literal > len(rel) || !equal(p.text[:p.literal], rel[:p.literal], fold):
		return false
	case p.literal == len(p.text):
		return len(rel) == p.literal
	}
	w := wild{pattern: p.text[p.literal:], text: rel[p.literal:], path: true, fold: fold}
	return w.matches()
}

func equal(a, b string, fold bool) bool {
	if len(a) != len(b) || !fold {
		return a == b
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
