package readonly

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// unary and binary are operators of test that look at nothing but files, texts and numbers.
// -v is not among them: it runs the commands that stand in an array's index.
const (
	unary  = "-b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -n -z"
	binary = "= == != -eq -ne -gt -lt -ge -le -nt -ot -ef"
	others = "-a -o"
)

// test judges test and [. With two or three arguments there is one way to read them,
// whatever they are; with more, one that looks like an operator may be it.
func (j *judge) test(words []word) ([]word, error) {
	rest := words[1:]
	if n := len(rest); words[0].is("[") && n > 0 && rest[n-1].is("]") {
		rest = rest[:n-1]
	}
	if len(rest) == 3 && rest[0].is("!") || len(rest) == 4 && rest[0].is("!") {
		rest = rest[1:]
	}
	switch {
	case len(rest) == 2 && !rest[1].many && !rest[0].open && among(unary, rest[0].text),
		len(rest) == 3 && !rest[0].many && !rest[2].many && !rest[1].open && among(binary, rest[1].text):
		return words, nil
	}
	for _, w := range rest {
		if w.mayBeOption() && (w.open || !among(unary+" "+binary+" "+others, w.text)) {
			return nil, w.refuse("this operator is not known to be harmless, or it may become one; use another or bash")
		}
	}
	return words, nil
}

// condition writes [[ ]] as calls of [, each with two or three arguments.
func (j *judge) condition(x syntax.TestExpr) error {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return j.condition(x.X)
	case *syntax.Word:
		return j.compare(x, literal("-n"), nil, x)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return j.combined("{ ! ", x.X, "", nil)
		}
		if !among(unary, x.Op.String()) {
			return j.refuse(x, "this operator is not known to be harmless; use another or bash")
		}
		return j.compare(x, literal(x.Op.String()), nil, x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest:
			return j.combined("{ ", x.X, " && ", x.Y)
		case syntax.OrTest:
			return j.combined("{ ", x.X, " || ", x.Y)
		}
		if !among(binary, x.Op.String()) {
			return j.refuse(x, "only texts, numbers and files are compared, not patterns; use grep, or bash")
		}
		operator := literal(x.Op.String())
		if x.Op == syntax.TsMatch {
			operator = literal("=") // == is not known to every [
		}
		return j.compare(x, operator, x.X, x.Y)
	}
	return j.refuse(x, "this condition cannot be read; use [ ]")
}

func (j *judge) combined(open string, x syntax.TestExpr, operator string, y syntax.TestExpr) error {
	j.write(open)
	if err := j.condition(x); err != nil {
		return err
	}
	j.write(operator)
	if y != nil {
		if err := j.condition(y); err != nil {
			return err
		}
	}
	j.write("\n}")
	return nil
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[0-9]+$`) })

// compare writes one comparison; x is nil if the operator has one side.
func (j *judge) compare(whole syntax.Node, operator word, x, y syntax.TestExpr) error {
	words := []word{literal("[")}
	for _, side := range []syntax.TestExpr{x, y} {
		if side == nil {
			words = append(words, operator)
			continue
		}
		if len(words) == 2 && x != nil {
			words = append(words, operator)
		}
		w, ok := side.(*syntax.Word)
		if !ok {
			return j.refuse(whole, "this condition cannot be read; use [ ]")
		}
		read, err := j.words([]*syntax.Word{w})
		if err != nil {
			return err
		}
		if len(read) != 1 || read[0].many {
			return j.refuse(w, "patterns are not compared with; use grep, or bash")
		}
		if among("-eq -ne -gt -lt -ge -le", operator.text) && !read[0].open && !number().MatchString(read[0].text) {
			return j.refuse(w, "it would be computed, and that can run commands; write a number")
		}
		words = append(words, read[0])
	}
	j.write(strings.TrimPrefix(joined(append(words, literal("]"))), " "))
	return nil
}
