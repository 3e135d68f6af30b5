package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentco/agent/conformance/internal/plain"
)

// finding is what a check saw. It is a pass unless it was skipped or has problems.
type finding struct {
	seen     string
	skipped  string
	problems []string
	unusable bool // skipped, since the provider does not get as far
}

// check looks at the evidence of one rule.
type check func(*subject) finding

func seen(format string, args ...any) finding { return finding{seen: fmt.Sprintf(format, args...)} }

func skipped(format string, args ...any) finding {
	return finding{skipped: fmt.Sprintf(format, args...)}
}

// unusable skips a rule that cannot be tried, since the provider does not get as far.
func unusable(err error) finding {
	return finding{skipped: fmt.Sprintf("it could not be used: %v", err), unusable: true}
}

func broken(format string, args ...any) finding {
	return finding{problems: []string{fmt.Sprintf(format, args...)}}
}

// tally counts what was looked at, and collects what is wrong with it.
type tally struct {
	count    int
	problems []string
	deaths   []transcript // calls that the end of the process ended
}

func (t *tally) add(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// fell notes a call that the end of the process ended, and reports whether it did. invoke.one-terminal says so; for
// another rule such a call is one that could not be tried.
func (t *tally) fell(call transcript) bool {
	if call.died != "" {
		t.deaths = append(t.deaths, call)
	}
	return call.died != ""
}

// of is the finding: what names the things that were looked at, in the plural. Nothing to look at is no pass.
func (t *tally) of(what string) finding {
	switch {
	case len(t.problems) > 0:
		return finding{problems: t.problems}
	case len(t.deaths) > 0:
		return skipped("not tried in every call: the provider's process ended in %s; see invoke.one-terminal", t.deaths[0])
	case t.count == 0:
		return skipped("there are no %s", what)
	default:
		return seen("%d %s", t.count, what)
	}
}

// verdict is what a finding means for a rule.
func (f finding) verdict(level Level) Verdict {
	switch {
	case f.skipped != "":
		return Skipped
	case len(f.problems) == 0:
		return Pass
	case level == Should:
		return Warn
	default:
		return Fail
	}
}

// text is the finding for people, in one line of bearable length.
func (f finding) text() string {
	const longest = 1000
	return plain.Clip(plain.Line(f.words()), longest)
}

func (f finding) words() string {
	const most = 3
	switch {
	case f.skipped != "":
		return f.skipped
	case len(f.problems) == 0:
		return f.seen
	}
	text := strings.Join(f.problems[:min(most, len(f.problems))], "; ")
	if more := len(f.problems) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// quote is text from a provider, short and without control codes.
func quote(s string) string {
	const most = 120
	return strconv.Quote(plain.Clip(s, most))
}
