package summary

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
)

// tsc complains line by line, in one of two ways, and neither ends with a telling line:
//
//	src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.
//	src/a.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'.
type tsc struct {
	first  string
	errors int
}

var tscError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S[^(]*?(?:\(\d+,\d+\):|:\d+:\d+ -) error TS\d+: `) })

func (t *tsc) line(line []byte) bool {
	if !bytes.Contains(line, []byte(" error TS")) || !tscError().Match(line) {
		return false
	}
	if t.errors++; t.errors == 1 {
		t.first = string(line)
	}
	return true
}

func (t *tsc) verdict() (string, bool) {
	if t.errors == 1 {
		return t.first, true
	}
	return fmt.Sprintf("%d errors, the first: %s", t.errors, t.first), true
}

// faults are lines that say what was wrong, wherever they stand, for a command that failed
// and ended with less. The first is what the others follow from.
type faults struct {
	panicked []byte // of a Go program
	rust     []byte // error[E0425]: cannot find value `c` in this scope
	cc       []byte // prog.c:1:25: error: 'missing' undeclared
	make     []byte // make[1]: *** [Makefile:2: all] Error 1
}

func (f *faults) line(line []byte) {
	// The expressions are slow, and there may be many lines.
	switch {
	case f.panicked == nil && (bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))):
		f.panicked = bytes.Clone(line)
	case f.rust == nil && bytes.HasPrefix(line, []byte("error[E")):
		f.rust = bytes.Clone(line)
	case f.cc == nil && bytes.Contains(line, []byte("error: ")) && ccError().Match(line):
		f.cc = bytes.Clone(line)
	case f.make == nil && bytes.Contains(line, []byte(": *** ")) && makeError().Match(line):
		f.make = bytes.Clone(line)
	}
}

var ccError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S+:\d+:(?:\d+:)? (?:fatal )?error: `) })

var makeError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S*make(?:\[\d+\])?: \*\*\* `) })

// fault is the most telling of them, or nothing.
func (f *faults) fault() []byte {
	for _, line := range [][]byte{f.panicked, f.rust, f.cc, f.make} {
		if line != nil {
			return line
		}
	}
	return nil
}
