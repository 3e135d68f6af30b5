package policy

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument of a command, as far as it is known before the shell reads it.
type word struct {
	// text is the word without its quotes; of one that is not fixed, what it begins with.
	text string
	// fixed: the shell changes nothing about it.
	fixed bool
	// hidden: the shell puts something in (a variable, the output of a command), which may be anything. A word that is
	// neither fixed nor hidden becomes names of files, or several words by its braces.
	hidden bool
}

// readWord reads one word of a script.
func readWord(w *syntax.Word) word {
	r := reader{fixed: true}
	for _, part := range w.Parts {
		r.part(part)
	}
	if w.Lit() == "{}" { // what find has put a name in
		return word{text: "{}", fixed: true}
	}
	return word{text: r.text.String(), fixed: r.fixed, hidden: r.hidden}
}

type reader struct {
	text          strings.Builder
	fixed, hidden bool
}

// literal adds what stands there as it is, up to where that ends.
func (r *reader) literal(text string) {
	if r.fixed {
		r.text.WriteString(text)
	}
}

func (r *reader) hide() { r.fixed, r.hidden = false, true }

func (r *reader) part(part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		r.unquoted(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar { // not every shell knows it
			r.hide()
		}
		r.literal(p.Value)
	case *syntax.DblQuoted:
		if p.Dollar { // is translated
			r.hide()
		}
		for _, inner := range p.Parts {
			lit, ok := inner.(*syntax.Lit)
			if !ok {
				r.hide()
				continue
			}
			r.literal(unescape().ReplaceAllString(lit.Value, "$1"))
		}
	default:
		r.hide()
	}
}

// unescape is what a backslash does between double quotes.
var unescape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\\\(?:\n|([$`\"\\\\]))") })

// unquoted reads text outside quotes: backslashes, and what becomes names of files, a home or several words.
func (r *reader) unquoted(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				r.literal(text[i : i+1])
			}
			continue
		case c == '*' || c == '?',
			c == '[' && text != "[",
			c == '{',
			c == '~' && (i == 0 || text[i-1] == '=' || text[i-1] == ':'):
			r.fixed = false
		}
		r.literal(text[i : i+1])
	}
}
