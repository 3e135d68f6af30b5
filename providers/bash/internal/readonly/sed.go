package readonly

import (
	"regexp"
	"strings"
	"sync"
)

var sedOptions = entry{operands: -1, options: map[string]need{
	"-n": never, "-E": never, "-r": never, "-s": never, "-u": never, "-z": never, "-e": always,
	"--quiet": never, "--silent": never, "--regexp-extended": never, "--separate": never, "--unbuffered": never,
	"--null-data": never, "--expression": always, "--posix": never,
}}

// sed has a sandbox of its own, in which a script can neither read nor write files nor run
// programs. It is always on; a sed that does not know it refuses to start. The script is
// looked through all the same, so that the refusal comes before anything runs.
func (j *judge) sed(words []word) ([]word, error) {
	operands, err := sedOptions.scan(words[1:])
	if err != nil {
		return nil, err
	}
	scripts := sedExpressions(words[1:])
	if len(scripts) == 0 && len(operands) > 0 {
		scripts = operands[:1]
	}
	for _, s := range scripts {
		if s.open {
			return nil, s.refuse("the script must be literal; put it in single quotes")
		}
		if why := sedScript(s.text); why != "" {
			return nil, s.refuse(why)
		}
	}
	sandboxed := entry{inserts: []string{"--sandbox"}}
	return sandboxed.complete(words, 1), nil
}

// sedExpressions are the scripts that are given as options.
func sedExpressions(words []word) (found []word) {
	for i, w := range words {
		switch {
		case w.is("--"):
			return found
		case strings.HasPrefix(w.text, "--expression="):
			_, text, _ := strings.Cut(w.text, "=")
			found = append(found, word{source: w.source, text: text, open: w.open})
		case w.is("--expression"), sedBundle().MatchString(w.text) && strings.HasSuffix(w.text, "e") && !w.open:
			if i+1 < len(words) {
				found = append(found, words[i+1])
			}
		case sedBundle().MatchString(w.text):
			_, text, _ := strings.Cut(w.text, "e")
			found = append(found, word{source: w.source, text: text, open: w.open})
		}
	}
	return found
}

// sedBundle is -e, maybe among others, and maybe with the script.
var sedBundle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[nErsuz]*e`) })

// What a script may have, one after the other: an address, a command.
var (
	sedAddress = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*)(?:,(?:[+~]?[0-9]+|\$|/(?:[^/\\\n]|\\.)*/[IM]*))?)?[ \t]*!?[ \t]*`)
	})
	sedCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[pdnNhHgGxDPz=F{}]|[bt:][ \t]*[A-Za-z0-9_]*)`) })
	sedText    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[aic](?:\\\n|[ \t]*\\?)[^\n]*`) })
	sedFlags   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[gpiIMm0-9]*`) })
	sedEnd     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*(?:[;\n]|$|(?:#[^\n]*))[;\n \t]*`) })
)

// sedScript says why a script is not known to only print.
func sedScript(script string) string {
	const doubt = "its command %s is not known to only print; print with p, d, s and the like, without w, e or r"
	rest := strings.TrimLeft(script, "; \t\n")
	for rest != "" {
		rest = rest[len(sedAddress().FindString(rest)):]
		if rest == "" {
			return "an address without a command"
		}
		n := sedLength(rest)
		if n == 0 {
			return strings.Replace(doubt, "%s", rest[:1], 1)
		}
		ended := rest[n-1] == '{' || rest[n-1] == '}' || strings.HasPrefix(rest[n:], "}")
		rest = rest[n:]
		end := sedEnd().FindString(rest)
		if end == "" && rest != "" && !ended {
			return strings.Replace(doubt, "%s", clip(rest), 1)
		}
		rest = strings.TrimLeft(rest[len(end):], " \t;\n")
	}
	return ""
}

// sedLength is the length of the command at the beginning, or 0 if it is not known.
func sedLength(s string) int {
	switch s[0] {
	case 's', 'y':
		n := delimited(s)
		if n == 0 {
			return 0
		}
		if s[0] == 's' {
			n += len(sedFlags().FindString(s[n:]))
		}
		return n
	case 'a', 'i', 'c':
		return len(sedText().FindString(s))
	case 'q', 'Q', 'l':
		return 1 + len(sedExit().FindString(s[1:]))
	default:
		return len(sedCommand().FindString(s))
	}
}

var sedExit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*[0-9]*`) })

// delimited is the length of s/a/b/ or y/a/b/, whatever the delimiter is. In a set of
// characters the delimiter would have to be escaped too, for this.
func delimited(s string) int {
	if len(s) < 2 || s[1] == '\\' || s[1] == '\n' || s[1] >= 0x80 {
		return 0
	}
	found := 0
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[1]:
			if found++; found == 2 {
				return i + 1
			}
		}
	}
	return 0
}
