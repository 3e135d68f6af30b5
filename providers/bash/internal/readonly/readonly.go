// Package readonly decides whether a shell script only reads, and rewrites it so that
// what runs is what was judged.
//
//	script ──► parse ──► every statement ──► every word ──► list of commands ──► Plan
//	                         └─ anything not known to be harmless: *Refused
//
// Nothing is decided on the text of the script, and no process is started. A word counts
// for what the shell would make of it: r\m, "rm" and $'\x72m' are all rm. The Plan's script
// is written anew from the words, each in single quotes, so that no shell can read it in
// another way; only patterns, ~ and a few variables are left to the shell, where what they
// become cannot be taken for an option.
//
// The list (commands.txt) names commands, and the options of those that have harmful ones;
// options are matched whole, so that no abbreviation slips by. find, sed, awk, git and
// others whose arguments are a language have a judge of their own. In doubt a script is
// refused: whoever needs more asks for it where somebody looks at it first.
package readonly

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxScript is the length of the longest script that is looked at.
const maxScript = 64 << 10

// Refused says which word of a script is not known to only read.
type Refused struct {
	Word string // as it was written
	Why  string // and what to do instead, where that is known
}

func (r *Refused) Error() string { return fmt.Sprintf("%q: %s", clip(r.Word), r.Why) }

// clip shortens a word that is too long for a message.
func clip(word string) string {
	const most = 80
	if len(word) <= most {
		return word
	}
	end := most
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end] + "…"
}

// Plan is a script that only reads.
type Plan struct {
	// Script is to be run instead of the one that was judged, by a POSIX shell.
	Script string
	// Before is empty, or a script to run first, in the same directory. What it prints is
	// for [Hazards].
	Before string
}

// Rules are the list of commands with what a configuration adds to it. The zero value is
// the list alone. Rules may be used from any goroutine.
type Rules struct {
	extra map[string][]string // name to first arguments; none for any
}

// NewRules adds commands to the list: "name" allows name with any arguments, "name sub"
// only if its first argument is sub. Arguments are still words without substitutions, but
// nothing is known about what they do.
func NewRules(extra []string) (*Rules, error) {
	r := &Rules{extra: map[string][]string{}}
	for _, entry := range extra {
		name, sub, found := strings.Cut(entry, " ")
		switch {
		case !plainName(name) || found && (sub == "" || strings.ContainsAny(sub, " \t\n")):
			return nil, fmt.Errorf("%q is neither the name of a command nor a name and its first argument", entry)
		case runsOthers(name):
			return nil, fmt.Errorf("%q runs other programs, so nothing can be known about it", name)
		case found:
			if subs, known := r.extra[name]; !known || subs != nil {
				r.extra[name] = append(subs, sub)
			}
		default:
			r.extra[name] = nil
		}
	}
	return r, nil
}

// plainName reports whether name is looked up in PATH and has nothing that a shell reads
// as more than a letter.
func plainName(name string) bool {
	if name == "" {
		return false
	}
	for _, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._+-", c) {
			return false
		}
	}
	return name[0] != '-' && name[0] != '.'
}

// Check judges a script. The error is a *Refused.
func (r *Rules) Check(script string) (Plan, error) {
	if err := legible(script); err != nil {
		return Plan{}, err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return Plan{}, &Refused{script, "it cannot be read as a shell script (" + err.Error() + ")"}
	}
	j := &judge{rules: r, source: script, where: []string{""}, variables: map[string]bool{}}
	if err := j.statements(file.Stmts); err != nil {
		return Plan{}, err
	}
	if j.out.Len() == 0 {
		return Plan{}, &Refused{script, "there is no command in it"}
	}
	return Plan{Script: j.out.String(), Before: j.before()}, nil
}

// legible refuses what shells and people may read differently.
func legible(script string) error {
	if len(script) > maxScript {
		return &Refused{script, fmt.Sprintf("it has %d bytes, and no more than %d are looked at; use bash", len(script), maxScript)}
	}
	if !utf8.ValidString(script) {
		return &Refused{script, "it is not UTF-8; use bash"}
	}
	for _, c := range script {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return &Refused{string(c), `control characters may mean anything; write them as $'\r' and the like, or use bash`}
		}
	}
	return nil
}
