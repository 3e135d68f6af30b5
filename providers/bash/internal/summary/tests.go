package summary

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// tally is what tools that count tests have in common.
type tally struct{ failed, passed, broken int }

// verdict reports broken things (test files that do not load, errors in fixtures) only
// if no test failed: they are named by thing.
func (t tally) verdict(thing string) (string, bool) {
	switch {
	case t.failed > 0 && t.passed > 0:
		return fmt.Sprintf("%s failed, %d passed", count(t.failed, "test"), t.passed), true
	case t.failed > 0:
		return count(t.failed, "test") + " failed", true
	case t.broken > 0:
		return count(t.broken, thing), true
	case t.passed == 0:
		return "no tests were run", false
	default:
		return count(t.passed, "test") + " passed", false
	}
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if noun, rest, found := strings.Cut(thing, " "); found {
		return fmt.Sprintf("%d %ss %s", n, noun, rest)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// pairs reads "1 failed, 3 passed" and the like, whatever separates the parts.
var pair = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+) ([a-z]+)`) })

func pairs(line []byte) map[string]int {
	found := map[string]int{}
	for _, m := range pair().FindAllSubmatch(line, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			found[string(m[2])] = n
		}
	}
	return found
}

// pytest prints one line of totals at the end, between rules unless it is quiet:
//
//	==== 1 failed, 3 passed in 0.12s ====
type pytest struct {
	tally
	last string // the last error of a test that says what it is
}

var pytestTotals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^=*\s*\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, \d+ [a-z]+)* in \d+\.\d+s(?: \([\d:]+\))?\s*=*\s*$`)
})

// mayBeTotals reports whether a line ends as the totals do: the expression is slow, and the
// lines of a log begin like them too.
func mayBeTotals(line []byte) bool {
	end := len(line) - 1
	for end > 0 && (line[end] == '=' || line[end] == ' ') {
		end--
	}
	return line[end] == 's' || line[end] == ')'
}

func (p *pytest) line(line []byte) bool {
	if !mayBeTotals(line) || !pytestTotals().Match(line) {
		return false
	}
	n := pairs(line)
	p.tally = tally{failed: n["failed"], passed: n["passed"], broken: n["error"] + n["errors"]}
	return true
}

// reason remembers why something could not even begin:
//
//	E   ModuleNotFoundError: No module named 'x'
func (p *pytest) reason(line []byte) {
	if text, ok := bytes.CutPrefix(line, []byte("E   ")); ok && len(bytes.TrimSpace(text)) > 0 {
		p.last = string(bytes.TrimSpace(text))
	}
}

func (p *pytest) verdict() (string, bool) {
	text, failed := p.tally.verdict("error")
	switch {
	case p.broken > 0 && p.failed > 0:
		return text + ", " + count(p.broken, "error"), true
	case p.broken > 0 && p.last != "":
		return text + ": " + p.last, true
	case p.broken+p.failed+p.passed == 0:
		return text, true // it exits with 5 then
	default:
		return text, failed
	}
}

// jest prints totals of suites and of tests; vitest does the same with other words:
//
//	Test Suites: 1 failed, 2 passed, 3 total
//	Tests:       1 failed, 9 passed, 10 total
//
//	 Test Files  1 failed | 2 passed (3)
//	      Tests  1 failed | 9 passed (10)
type jest struct {
	tally
	nothing string // what it says if it finds no test
}

var jestTotals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *(Test Suites: +|Tests: +|Test Files  |Tests  )(\d+ (?:failed|passed|skipped|todo|total)\b.*)$`)
})

func (j *jest) line(line []byte) bool {
	if bytes.HasPrefix(line, []byte("No tests found")) || bytes.HasPrefix(line, []byte("No test files found")) {
		j.nothing = string(line)
		return true
	}
	m := jestTotals().FindSubmatch(line)
	if m == nil {
		return false
	}
	n := pairs(m[2])
	if bytes.HasPrefix(m[1], []byte("Tests")) {
		j.failed, j.passed = n["failed"], n["passed"]
	} else {
		j.tally, j.nothing = tally{broken: n["failed"]}, ""
	}
	return true
}

func (j *jest) verdict() (string, bool) {
	if j.nothing != "" {
		return j.nothing, true
	}
	return j.tally.verdict("suite failed")
}

// cargo test prints one line for every test binary:
//
//	test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
type cargo struct{ tally }

func (c *cargo) line(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("test result: "))
	if !ok {
		return false
	}
	n := pairs(rest)
	c.failed += n["failed"]
	c.passed += n["passed"]
	return true
}

func (c *cargo) verdict() (string, bool) { return c.tally.verdict("") }
