package readonly

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// lookup is command: with -v it says what a name is, else it runs it.
func (j *judge) lookup(words []word) ([]word, error) {
	if len(words) > 1 && words[1].is("-v", "-V") {
		return words, nil
	}
	return j.within(words, 1)
}

var (
	timeoutOptions = entry{operands: -1, options: map[string]need{
		"-k": always, "-s": always, "-v": never, "--kill-after": always, "--signal": always, "--verbose": never,
		"--foreground": never, "--preserve-status": never,
	}}
	duration = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+(\.[0-9]+)?[smhd]?$`) })
)

func (j *judge) timeout(words []word) ([]word, error) {
	n, err := timeoutOptions.leading(words)
	if err != nil {
		return nil, err
	}
	if n >= len(words) || words[n].open || !duration().MatchString(words[n].text) {
		return nil, words[0].refuse("it takes a duration such as 10 or 5s, and then a command")
	}
	return j.within(words, n+1)
}

var niceOptions = entry{operands: -1, options: map[string]need{"-n": always, "--adjustment": always}}

func (j *judge) nice(words []word) ([]word, error) {
	n, err := niceOptions.leading(words)
	if err != nil {
		return nil, err
	}
	return j.within(words, n)
}

// leading returns how many words there are up to the first operand. These programs take
// no option after it.
func (e entry) leading(words []word) (int, error) {
	n := 1
	for ; n < len(words) && !words[n].open && len(words[n].text) > 1 && words[n].text[0] == '-'; n++ {
		if words[n].text == "--" {
			return n + 1, nil
		}
		next, err := e.match(words[n])
		if err != nil {
			return 0, err
		}
		if !next {
			continue
		}
		if n++; n < len(words) && words[n].open {
			return 0, words[n].refuse("it may become several words, or an option; write it literally")
		}
	}
	return n, nil
}

// within judges the command that begins at word n.
func (j *judge) within(words []word, n int) ([]word, error) {
	if n >= len(words) {
		return nil, words[0].refuse("the command that it is to run is missing")
	}
	inner, err := j.judged(words[n:], words[0].text != "command")
	if err != nil {
		return nil, err
	}
	return append(append([]word{}, words[:n]...), inner...), nil
}

var xargsOptions = entry{operands: -1, options: map[string]need{
	"-0": never, "-r": never, "-t": never, "-x": never, "-n": always, "-L": always, "-P": always, "-d": always, "-I": always, "-s": always,
	"--null": never, "--no-run-if-empty": never, "--max-args": always, "--max-procs": always, "--max-lines": always, "--delimiter": always,
}}

// xargs gives a command words that nobody knows, so it has to be one to which no argument
// can be harmful.
func (j *judge) xargs(words []word) ([]word, error) {
	n, err := xargsOptions.leading(words)
	if err != nil {
		return nil, err
	}
	if err := xargsLimits(words[1:min(n, len(words))]); err != nil {
		return nil, err
	}
	if n >= len(words) {
		return words, nil // it prints them
	}
	name := words[n]
	e, ok := list()[name.text]
	if name.open || !ok || !e.anything || slices.Contains(ownCommands, name.text) {
		return nil, name.refuse("xargs gives it arguments that cannot be known, so only commands without any harmful option are run (cat, grep, head, ls, wc and the like)")
	}
	if replaces(words[1:n], name.text) {
		return nil, name.refuse("xargs would replace a part of the command's name; write -I {}")
	}
	return words, nil
}

// xargsLimits refuses options that are not what they look like, and too many processes.
func xargsLimits(options []word) error {
	for i, w := range options {
		value := ""
		if i+1 < len(options) {
			value = options[i+1].text
		}
		switch {
		case xargsHidden().MatchString(w.text):
			return w.refuse("what it replaces is hard to see; write it on its own: -I {}")
		case xargsParallel().MatchString(w.text) && !fewProcesses().MatchString(w.text+value):
			return w.refuse("it may start too many processes at once; write -P 8, or a smaller number")
		}
	}
	return nil
}

var (
	xargsHidden   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[^-I].*I`) })
	xargsParallel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:-[^-]*P|--max-procs)`) })
	fewProcesses  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:-P|--max-procs=?)[1-8](?:\D|$)`) })
)

// replaces reports whether what xargs puts other words in for is a part of the name.
func replaces(options []word, name string) bool {
	for i, w := range options {
		mark, attached := strings.CutPrefix(w.text, "-I")
		if attached && mark == "" && i+1 < len(options) {
			mark = options[i+1].text
		}
		if attached && (mark == "" || strings.Contains(name, mark)) {
			return true
		}
	}
	return false
}
