package readonly

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces is how many words one word may become by its braces.
const maxBraces = 64

// word is an argument after the shell has read it.
type word struct {
	source string // as it was written
	text   string // what it is; of an open word, what it begins with
	open   bool   // the shell decides how it goes on
	many   bool   // and may make several words of it
	quoted string // how it is written down again
}

// is reports whether the word is one of the texts, whatever the shell does.
func (w word) is(texts ...string) bool {
	for _, t := range texts {
		if !w.open && w.text == t {
			return true
		}
	}
	return false
}

// mayBeOption reports whether a program may take the word for something else than the
// name of a file.
func (w word) mayBeOption() bool {
	if w.open {
		return w.text == "" || !tame().MatchString(w.text)
	}
	return strings.HasPrefix(w.text, "-")
}

// tame is a beginning that no program takes for an option, an operator or an expression.
var tame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN_./]`) })

func (w word) refuse(why string) error { return &Refused{w.source, why} }

// literal makes a word that is not in the script.
func literal(text string) word { return word{source: text, text: text, quoted: quote(text)} }

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// words reads the words of a command.
func (j *judge) words(all []*syntax.Word) ([]word, error) {
	var read []word
	for _, w := range all {
		source := j.text(w)
		if strings.Count(source, "{") > maxBraces { // to split them takes its time
			return nil, &Refused{source, "it has too many braces; use bash"}
		}
		if syntax.SplitBraces(w) {
			if n := braceCount(w); n > maxBraces {
				return nil, &Refused{source, "its braces make too many words; write them out"}
			}
		}
		for one, err := range expand.BracesSeq(nil, w) {
			if err != nil {
				return nil, &Refused{source, err.Error()}
			}
			next, err := j.word(one, source)
			if err != nil {
				return nil, err
			}
			read = append(read, next)
		}
	}
	return read, nil
}

// braceCount is how many words come of one, or more than maxBraces.
func braceCount(w *syntax.Word) int {
	total := 1
	for _, part := range w.Parts {
		braces, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if braces.Sequence {
			return maxBraces + 1
		}
		sum := 0
		for _, elem := range braces.Elems {
			sum += braceCount(elem)
		}
		if total *= sum; total > maxBraces {
			return total
		}
	}
	return total
}

// reader collects the parts of one word.
type reader struct {
	word
	begin strings.Builder // what will be text
	run   strings.Builder // literal text that is not in out yet
	out   strings.Builder // what will be quoted
}

func (r *reader) literal(text string) {
	r.run.WriteString(text)
	if !r.open {
		r.begin.WriteString(text)
	}
}

// live adds what is left to the shell. begin is how it begins if nothing is before it.
func (r *reader) live(code, begin string) {
	r.flush()
	r.out.WriteString(code)
	if !r.open {
		r.begin.WriteString(begin)
	}
	r.open = true
}

// pattern adds what the shell replaces with the names of files.
func (r *reader) pattern(code string) {
	r.live(code, "")
	r.many = true
}

func (r *reader) flush() {
	if r.run.Len() > 0 {
		r.out.WriteString(quote(r.run.String()))
		r.run.Reset()
	}
}

// word reads one word.
func (j *judge) word(w *syntax.Word, source string) (word, error) {
	r := &reader{word: word{source: source}}
	for i, part := range w.Parts {
		if err := j.part(r, part, i == 0); err != nil {
			return word{}, err
		}
	}
	r.flush()
	r.text = r.begin.String()
	if r.quoted = r.out.String(); r.quoted == "" {
		r.quoted = "''"
	}
	if strings.ContainsRune(r.text, 0) {
		return word{}, r.refuse("it has a NUL byte in it")
	}
	return r.word, nil
}

func (j *judge) part(r *reader, part syntax.WordPart, first bool) error {
	switch p := part.(type) {
	case *syntax.Lit:
		return r.unquoted(p.Value, first)
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			decoded, _, err := expand.Format(nil, text, nil)
			if err != nil {
				return r.refuse("it cannot be read: " + err.Error())
			}
			text = decoded
		}
		r.literal(text)
		return nil
	case *syntax.DblQuoted:
		if p.Dollar {
			return r.refuse(`$"..." is translated; use plain quotes`)
		}
		return j.doubleQuoted(r, p.Parts)
	case *syntax.ParamExp:
		return j.variable(r, p)
	case *syntax.ExtGlob:
		return r.refuse("extended patterns are not read; write the names out or use find -name")
	default:
		return r.substitution(part)
	}
}

func (j *judge) doubleQuoted(r *reader, parts []syntax.WordPart) error {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.literal(unescape().ReplaceAllString(p.Value, "$1"))
		case *syntax.ParamExp:
			if err := j.variable(r, p); err != nil {
				return err
			}
		default:
			return r.substitution(part)
		}
	}
	return nil
}

// unescape is what a backslash does between double quotes.
var unescape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\\\(?:\n|([$`\"\\\\]))") })

func (r *reader) substitution(part syntax.WordPart) error {
	switch part.(type) {
	case *syntax.CmdSubst:
		return r.refuse("what a command prints cannot be known before it runs; call it first and write its output here")
	case *syntax.ProcSubst:
		return r.refuse("process substitutions are not read; use a pipe or two calls")
	case *syntax.ArithmExp:
		return r.refuse("arithmetic can run commands; write the number")
	default:
		return r.refuse("it cannot be read; use bash")
	}
}

// known are the variables that may be used, with how their values begin.
var known = map[string]string{
	"HOME": "/", "PWD": "/", "?": "0", "USER": "", "SHELL": "", "PATH": "", "LANG": "", "TERM": "", "TMPDIR": "",
	"GOPATH": "", "GOROOT": "", "VIRTUAL_ENV": "", "OLDPWD": "", "HOSTNAME": "",
}

// variable leaves a variable to the shell, always quoted: its value is never split.
func (j *judge) variable(r *reader, p *syntax.ParamExp) error {
	if !bare(p) {
		return r.refuse("only plain variables can be read; write the text that is meant")
	}
	name := p.Param.Value
	if tame, bound := j.variables[name]; bound {
		begin := ""
		if tame {
			begin = "x"
		}
		r.live(`"${`+name+`}"`, begin)
		return nil
	}
	begin, ok := known[name]
	if !ok {
		return r.refuse("its value cannot be known; write the text that is meant (only HOME, PWD, PATH, USER, ? and the like, and the variable of a loop, are read)")
	}
	if begin == "/" { // else what follows would be all of the word, and might be an option
		name += ":-/"
	}
	r.live(`"${`+name+`}"`, begin)
	return nil
}

// bare reports whether a variable is used as it is.
func bare(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Split == syntax.OptUnset &&
		p.GlobSubst == syntax.OptUnset && p.RcExpand == syntax.OptUnset && p.NestedParam == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// set is the one form of a character class that is left to the shell.
var set = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[!^]?[A-Za-z0-9_.,-]+\]`) })

// unquoted reads text outside quotes: backslashes, patterns and a leading ~.
func (r *reader) unquoted(text string, first bool) error {
	if first && strings.HasPrefix(text, "~") {
		if text != "~" && text[1] != '/' {
			return r.refuse("another user's home cannot be known; write the path")
		}
		if text = text[1:]; text == "" {
			r.live("~", "/")
		} else { // the shell does not know it with a quoted slash
			r.live("~/", "/")
			text = text[1:]
		}
	}
	for text != "" {
		switch c := text[0]; {
		case c == '\\' && len(text) > 1:
			text = text[1:]
			if text[0] != '\n' {
				r.literal(text[:1])
			}
			text = text[1:]
		case c == '*' || c == '?':
			r.pattern(text[:1])
			text = text[1:]
		case c == '[' && set().MatchString(text):
			n := len(set().FindString(text))
			r.pattern(text[:n])
			text = text[n:]
		case c == '[' && strings.Contains(text, "]") && text != "[":
			return r.refuse("the pattern cannot be read; quote it if it is none")
		default:
			r.literal(text[:1])
			text = text[1:]
		}
	}
	return nil
}
