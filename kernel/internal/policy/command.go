package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is a pattern of shell commands, such as "go test *".
type Command struct {
	source string
	words  []wordPattern
	rest   bool // any further words may follow
}

// wordPattern is a word cut at its wildcards: one piece is the whole word.
type wordPattern []string

// ParseCommand reads a pattern. It is written like one command of a shell, words and quotes; * as its last word stands
// for any further words, also none; * within a word for any text without a slash, which is not the beginning of an
// option and has no ".." in it. A quoted * is a star. Variables, redirections and what joins commands have no meaning
// in a pattern and are an error.
func ParseCommand(text string) (Command, error) {
	p := Command{source: text}
	file, err := parseScript(text, syntax.KeepComments(true))
	if err != nil {
		return p, err
	}
	args := onlyWords(file)
	if len(args) == 0 {
		return p, errors.New("write one command, words alone: no pipe, redirection, assignment, comment or the like")
	}
	for i, w := range args {
		if i == len(args)-1 && w.Lit() == "*" {
			p.rest = true
			break
		}
		read, err := readPattern(w)
		if err != nil {
			return p, err
		}
		p.words = append(p.words, read)
	}
	return p, nil
}

// onlyWords are the words of a command that is nothing else.
func onlyWords(file *syntax.File) []*syntax.Word {
	if len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns)+len(stmt.Redirs)+len(stmt.Comments) > 0 || stmt.Negated || stmt.Semicolon.IsValid() {
		return nil
	}
	return call.Args
}

// Everything reports whether the pattern matches all commands.
func (p Command) Everything() bool { return len(p.words) == 0 }

// Never says why no allow can come of the pattern, or nothing.
func (p Command) Never() string {
	if len(p.words) == 0 {
		return ""
	}
	var words []word
	for _, w := range p.words {
		words = append(words, word{text: strings.Join(w, "x"), fixed: true})
	}
	if p.rest && slices.Contains(shells, path.Base(words[0].text)) {
		words = append(words, word{text: "x", fixed: true})
	}
	return evaluates(words)
}

func readPattern(w *syntax.Word) (wordPattern, error) {
	p := wordPattern{""}
	add := func(text string) { p[len(p)-1] += text }
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			one := readWord(&syntax.Word{Parts: []syntax.WordPart{part}})
			if !one.fixed {
				return nil, fmt.Errorf("%q cannot be in a pattern: quote it, if it is text", source(w))
			}
			add(one.text)
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch c := lit.Value[i]; {
			case c == '\\' && i+1 < len(lit.Value):
				i++
				add(lit.Value[i : i+1])
			case c == '*':
				p = append(p, "")
			default:
				add(lit.Value[i : i+1])
			}
		}
	}
	return p, nil
}

// covers reports whether words are for sure one of the commands that the pattern shows.
func (p Command) covers(words []word) bool {
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.rest {
		return false
	}
	for i, w := range p.words {
		if !words[i].fixed || !w.is(words[i].text) {
			return false
		}
	}
	if git, ok := readGit(words); ok && !p.writesOut(git.loose) {
		return false
	}
	return !slices.ContainsFunc(words, func(w word) bool { return w.hidden })
}

// mayCover reports whether words can turn out to be one of the commands that the pattern shows. What a program is
// called by, and by which path, makes no difference, nor what git is given before its subcommand.
func (p Command) mayCover(words []word) bool {
	if p.fits(words) {
		return true
	}
	git, ok := readGit(words)
	return ok && p.isFor("git") && (git.loose > 0 || git.words != nil && p.fits(git.words))
}

func (p Command) fits(words []word) bool {
	for i, w := range p.words {
		if i >= len(words) {
			return false
		}
		text := words[i].text
		ways := []string{text}
		if i == 0 {
			base := text[strings.LastIndexByte(text, '/')+1:]
			ways = append(ways, base, strings.ToLower(base), strings.TrimSuffix(strings.ToLower(base), ".exe"))
		}
		if !words[i].fixed { // it may become any number of words
			return slices.ContainsFunc(ways, w.mayBegin)
		}
		if !slices.ContainsFunc(ways, func(text string) bool { return wild(w, text, anyText) }) {
			return false
		}
	}
	return p.rest || len(words) == len(p.words) || !words[len(words)-1].fixed && len(words) == len(p.words)+1
}

// is compares a word with a pattern that shall not be wider than it looks.
func (w wordPattern) is(text string) bool {
	switch {
	case len(w) == 1:
		return w[0] == text
	case text == "" || w[0] == "" && text[0] == '-', slices.Contains(strings.Split(text, "/"), ".."):
		return false
	}
	return wild(w, text, func(s string) bool { return !strings.Contains(s, "/") })
}

// mayBegin reports whether a word that begins with a text can fit.
func (w wordPattern) mayBegin(text string) bool {
	return strings.HasPrefix(w[0], text) || len(w) > 1 && strings.HasPrefix(text, w[0])
}

func anyText(string) bool { return true }

// wild reports whether text is the pieces in their order, with only what may stand there between them.
func wild(pieces []string, text string, between func(string) bool) bool {
	if len(pieces) == 1 {
		return text == pieces[0]
	}
	rest, ok := strings.CutPrefix(text, pieces[0])
	if !ok {
		return false
	}
	last := pieces[len(pieces)-1]
	middle, ok := strings.CutSuffix(rest, last)
	if !ok {
		return false
	}
	for _, piece := range pieces[1 : len(pieces)-1] {
		before, after, found := strings.Cut(middle, piece)
		if !found || !between(before) {
			return false
		}
		middle = after
	}
	return between(middle)
}

// compareCommand compares the script of a call with the patterns of a rule. why is empty when that is certain.
func compareCommand(patterns []Command, s *script) (fit, string) {
	if s == nil {
		return none, `the call has no text argument "command"`
	}
	if sure, _ := surelyCovered(patterns, s); sure {
		return certain, ""
	}
	if s.opaque != "" {
		return possible, "its command cannot be read, so it may be one of these: " + s.opaque
	}
	for _, p := range patterns {
		if i := slices.IndexFunc(s.found, p.mayCover); i >= 0 {
			return possible, fmt.Sprintf("%q is, or may become, %q", shownWords(s.found[i]), p.source)
		}
	}
	return none, "none of what it runs is one of its commands"
}

// surelyCovered reports whether a script is nothing but commands that the patterns show, and if not, why.
func surelyCovered(patterns []Command, s *script) (bool, string) {
	if s.problem != "" {
		return false, s.problem
	}
	for _, words := range s.commands {
		if !slices.ContainsFunc(patterns, func(p Command) bool { return p.covers(words) }) {
			return false, uncovered(words)
		}
	}
	return true, ""
}

// uncovered says of words why no pattern shows them.
func uncovered(words []word) string {
	if git, ok := readGit(words); ok && git.loose > 0 {
		return fmt.Sprintf("git may run anything by what it is given in %q, and no pattern writes that out", shownWords(words[:min(git.loose, len(words))]))
	}
	return fmt.Sprintf("%q is none of its commands", shownWords(words))
}

func shownWords(words []word) string {
	var texts []string
	for _, w := range words {
		text := w.text
		if !w.fixed {
			text += "…"
		}
		texts = append(texts, text)
	}
	return clip(strings.Join(texts, " "))
}
