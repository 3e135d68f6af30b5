package readonly

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCalls is how many commands a script may have. All of them could run at once, in one
// long pipe.
const maxCalls = 256

// call judges one command with its arguments.
func (j *judge) call(c *syntax.CallExpr) error {
	if j.calls++; j.calls > maxCalls {
		return j.refuse(c, "there are too many commands before it; use several calls")
	}
	if len(c.Args) == 0 && len(c.Assigns) > 0 {
		return j.refuse(c.Assigns[0], "variables cannot be set; write the text where it is used")
	}
	if err := j.assignments(c.Assigns); err != nil {
		return err
	}
	words, err := j.words(c.Args)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return j.refuse(c, "there is no command in it")
	}
	return j.invoke(words, false)
}

// special are the commands whose arguments are more than options and names.
var special map[string]func(j *judge, words []word) ([]word, error)

func init() {
	special = map[string]func(j *judge, words []word) ([]word, error){
		"[": (*judge).test, "test": (*judge).test, "printf": (*judge).printf, "cd": (*judge).cd, "set": (*judge).set,
		"date": (*judge).date, "find": (*judge).find, "sed": (*judge).sed, "tar": (*judge).tar, "unzip": (*judge).unzip,
		"awk": (*judge).awk, "gawk": (*judge).awk, "mawk": (*judge).awk, "nawk": (*judge).awk,
		"command": (*judge).lookup, "timeout": (*judge).timeout, "nice": (*judge).nice, "xargs": (*judge).xargs,
		"git": (*judge).git, "go": (*judge).golang,
		"node": (*judge).version, "python": (*judge).version, "python3": (*judge).version, "ruby": (*judge).version,
		"gcc": (*judge).version, "clang": (*judge).version, "make": (*judge).version, "bash": (*judge).version,
	}
}

// ownCommands are known to the shell alone, so no program can run them.
var ownCommands = []string{"[", ":", "break", "cd", "command", "continue", "exit", "set", "type"}

// invoke judges words as a command, which a program starts if external is set, and writes
// them down.
func (j *judge) invoke(words []word, external bool) error {
	judged, err := j.judged(words, external)
	if err != nil {
		return err
	}
	j.write(strings.TrimPrefix(joined(judged), " "))
	return nil
}

// judged returns the words as they are to be run.
func (j *judge) judged(words []word, external bool) ([]word, error) {
	name := words[0]
	if name.open {
		return nil, name.refuse("which command it is cannot be known; write its name")
	}
	if external && slices.Contains(ownCommands, name.text) {
		return nil, name.refuse("only the shell itself can run it")
	}
	if j.extra(words) {
		return words, nil
	}
	if judge, ok := special[name.text]; ok {
		return judge(j, words)
	}
	e, ok := list()[name.text]
	if !ok {
		return nil, name.refuse(unknown(name.text))
	}
	if err := e.check(words[1:]); err != nil {
		return nil, err
	}
	return e.complete(words, 1), nil
}

// complete puts in what the list adds to a command, after n words.
func (e entry) complete(words []word, n int) []word {
	for _, text := range e.inserts {
		words = slices.Insert(words, n, literal(text))
		n++
	}
	return words
}

// extra reports whether the configuration allows the command.
func (j *judge) extra(words []word) bool {
	subs, ok := j.rules.extra[words[0].text]
	return ok && (subs == nil || len(words) > 1 && words[1].is(subs...))
}

// check judges the arguments of a command on the list.
func (e entry) check(words []word) error {
	if e.anything {
		return nil
	}
	operands, err := e.scan(words)
	if err != nil {
		return err
	}
	return e.count(operands)
}

func (e entry) count(operands []word) error {
	if e.operands < 0 {
		return nil
	}
	for i, w := range operands {
		if w.open {
			return w.refuse("it may become several words here; write them out")
		}
		if i >= e.operands {
			return w.refuse("this argument changes something, or what it does is not known; leave it out or use bash")
		}
	}
	return nil
}

// scan tells options from operands, as getopt_long does, and refuses what it does not
// know. An option may come after operands, but not after --.
func (e entry) scan(words []word) (operands []word, err error) {
	if i := slices.IndexFunc(words, func(w word) bool { return strings.HasPrefix(w.text, "@") }); e.noFiles && i >= 0 {
		return nil, words[i].refuse("options would be read from that file; write ./ before it")
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.open && w.mayBeOption():
			return nil, w.refuse("it may become an option, as the name of a file can begin with a dash; write ./ before it")
		case w.open || w.text == "-" || !strings.HasPrefix(w.text, "-"):
			operands = append(operands, w)
		case w.text == "--":
			return append(operands, words[i+1:]...), nil
		default:
			next, err := e.match(w)
			if err != nil {
				return nil, err
			}
			if !next {
				continue
			}
			if i++; i == len(words) {
				return nil, w.refuse("its value is missing")
			}
			if v := words[i]; v.open || strings.HasPrefix(v.text, "-") {
				return nil, v.refuse(fmt.Sprintf("as the value of %s it may be taken for something else; write it literally, and attached", w.text))
			}
		}
	}
	return operands, nil
}

// match looks an option up. next says that the following word is its value.
func (e entry) match(w word) (next bool, err error) {
	if strings.HasPrefix(w.text, "--") {
		name, _, attached := strings.Cut(w.text, "=")
		switch takes := e.options[name]; {
		case takes == 0, takes == never && attached:
			return false, w.refuse("this option is not known to be harmless; leave it out, write it in full, or use bash")
		default:
			return takes == always && !attached, nil
		}
	}
	rest := w.text[1:]
	for rest != "" {
		letter := rest[:1]
		rest = rest[1:]
		switch e.options["-"+letter] {
		case never:
		case maybe:
			return false, nil
		case always:
			return rest == "", nil
		default:
			return false, w.refuse(fmt.Sprintf("the option -%s is not known to be harmless; leave it out or use bash", letter))
		}
	}
	return false, nil
}
