package conventional

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Change is one change that a commit message announces.
type Change struct {
	Type     string // in lower case: "feat"; "" in a message that is not conventional and breaks all the same
	Scope    string
	Text     string // what follows the colon, else the subject
	Breaking bool
	Notes    []string // what BREAKING CHANGE footers say
}

var (
	header = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)(?:\(([^()\r\n]+)\))?(!)?:[ \t]+(\S.*)$`)
	})
	bullet  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[*+-]|\d+[.)])[ \t]+`) })
	breaks  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^BREAKING[ -]CHANGE(?::[ \t]+|[ \t]+#)(.*)$`) })
	trailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*(?::[ \t]|[ \t]#)`) })
	fence   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:```|~~~)") })
)

// squashed are the types that count on a line of a body. In a subject any word may be a type; in prose "Note: x" is none.
var squashed = []string{"build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"}

// Parse returns the changes of a message: the one of its subject, or else those listed in its body, as a squash merge
// leaves them. A BREAKING CHANGE footer counts whatever the subject looks like. A message may announce none.
func Parse(message string) []Change {
	subject, body, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(message), "\r\n", "\n"), "\n")
	lines := prose(body)
	notes := breakingNotes(lines)
	c, ok := parseHeader(subject)
	if ok {
		c.Notes, c.Breaking = notes, c.Breaking || len(notes) > 0
		return []Change{c}
	}
	var changes []Change
	for _, line := range lines {
		if c, ok := parseHeader(bullet().ReplaceAllString(strings.TrimSpace(line), "")); ok && slices.Contains(squashed, c.Type) {
			changes = append(changes, c)
		}
	}
	if len(notes) > 0 {
		changes = append(changes, Change{Text: strings.TrimSpace(subject), Breaking: true, Notes: notes})
	}
	return changes
}

func parseHeader(line string) (Change, bool) {
	m := header().FindStringSubmatch(line)
	if m == nil {
		return Change{}, false
	}
	return Change{Type: strings.ToLower(m[1]), Scope: m[2], Breaking: m[3] != "", Text: strings.TrimSpace(m[4])}, true
}

// prose returns the lines of a body that are not code.
func prose(body string) []string {
	var out []string
	code := false
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case fence().MatchString(strings.TrimSpace(line)):
			code = !code
		case !code && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t"):
			out = append(out, line)
		}
	}
	return out
}

// breakingNotes returns what each BREAKING CHANGE footer says, with the lines it goes on for.
func breakingNotes(lines []string) []string {
	var notes []string
	open := false
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch m := breaks().FindStringSubmatch(line); {
		case m != nil:
			notes, open = append(notes, strings.TrimSpace(m[1])), true
		case line == "" || trailer().MatchString(line):
			open = false
		case open:
			notes[len(notes)-1] += " " + line
		}
	}
	return notes
}
