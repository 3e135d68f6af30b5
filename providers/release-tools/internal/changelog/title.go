package changelog

import (
	"regexp"
	"strings"
	"sync"

	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// title is what the text of a heading says about a release. Spans count from the start of the text.
type title struct {
	unreleased bool
	version    span // empty if the text names no version
	odd        bool // it starts like a version and is none, as "5.0,2"
	bracket    bool // the name stands in brackets
	link       span // the URL of an inline link
	date       span
	yanked     bool
	pending    bool // marked as not released yet
	bare       bool // nothing else is in the text
}

var (
	opening = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\[?)(?:(?i:version|release)\s+)?(?i:v)?(\d[^\s\](]*)`)
	})
	nameless = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)(\[?)unreleased(?:\s+changes)?(\]?)\s*(.*)$`) })
	dated    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\d{4}[-./‐‑‒–—]\d{1,2}[-./‐‑‒–—]\d{1,2}|\d{1,2}[-./‐‑‒–—]\d{1,2}[-./‐‑‒–—]\d{4}`)
	})
	waiting = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:tbd|tba|unreleased|releasedate|pending)\b`) })
	aside   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\]]*\]\([^)]*\)|#\d+`) }) // a link or number of an issue, a pull request
	yank    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\[?\byanked\b\]?`) })
	isoDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{4})[-./‐‑‒–—](\d{2})[-./‐‑‒–—](\d{2})$`)
	})
	sound = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\d+(?:\.[0-9A-Za-z]+)+(?:[-+/_.][0-9A-Za-z.+_/-]*)?$`)
	})
)

const (
	separators = " \t-–—:/()[]"
	digits     = "0123456789"
)

func readTitle(s string) title {
	if t, ok := readUnreleased(s); ok {
		return t
	}
	if !strings.ContainsAny(s, digits) {
		return title{} // as most headings are, which name a category
	}
	m := opening().FindStringSubmatchIndex(s)
	if m == nil {
		return title{}
	}
	name := strings.TrimRight(s[m[4]:m[5]], ":,;")
	if !sound().MatchString(name) {
		return title{odd: strings.Contains(name, ".")}
	}
	t := title{bracket: m[2] < m[3], version: span{m[4], m[4] + len(name)}}
	t.readRest(s, t.version.end)
	return t
}

func readUnreleased(s string) (title, bool) {
	const name = "unreleased"
	if bare := strings.TrimPrefix(s, "["); len(bare) < len(name) || !strings.EqualFold(bare[:len(name)], name) {
		return title{}, false
	}
	m := nameless().FindStringSubmatchIndex(s)
	if m == nil {
		return title{}, false
	}
	t := title{unreleased: true, bracket: m[2] < m[3], bare: true}
	rest := s[m[6]:m[7]]
	if rest != "" && !strings.ContainsAny(rest[:1], "-:([/") && !strings.HasPrefix(rest, "–") && !strings.HasPrefix(rest, "—") {
		return title{}, false
	}
	if t.bracket && m[4] < m[5] {
		t.link = inlineLink(s, m[5])
	}
	return t, true
}

func (t *title) readRest(s string, at int) {
	rest := s[at:]
	if t.bracket && strings.HasPrefix(rest, "]") {
		t.link = inlineLink(s, at+1)
		if t.link.end > 0 {
			at = t.link.end + 1
			rest = s[at:]
		}
	}
	left := rest
	if d := dated().FindStringIndex(rest); d != nil {
		t.date = span{at + d[0], at + d[1]}
		left = rest[:d[0]] + rest[d[1]:]
	}
	if t.bare = strings.Trim(left, separators) == ""; t.bare {
		return
	}
	t.yanked = yank().MatchString(left)
	t.pending = t.date.end == 0 && waiting().MatchString(left)
	for _, known := range []*regexp.Regexp{yank(), waiting(), aside()} {
		left = known.ReplaceAllString(left, "")
	}
	t.bare = strings.Trim(left, separators) == ""
}

// inlineLink is the URL of "(url)" when it stands right at that place, as it does after a "]".
func inlineLink(s string, at int) span {
	if !strings.HasPrefix(s[at:], "(") {
		return span{}
	}
	end := strings.IndexByte(s[at:], ')')
	if end < 0 || !strings.Contains(s[at:at+end], "://") || strings.ContainsAny(s[at:at+end], " \t") {
		return span{}
	}
	return span{at + 1, at + end}
}

// dateText normalises a dash variant of an ISO day and leaves every other spelling alone.
func dateText(s string) string {
	if !strings.ContainsAny(s, "./‐‑‒–—") {
		return s
	}
	if m := isoDate().FindStringSubmatch(s); m != nil {
		return m[1] + "-" + m[2] + "-" + m[3]
	}
	return s
}

// versionsIn reads the strict versions of a label; a compound one like "1.45.0/0.67.0" holds several.
func versionsIn(label string) []semver.Version {
	var out []semver.Version
	for part := range strings.SplitSeq(label, "/") {
		if v, err := semver.Parse(part); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// normalise folds a link label as CommonMark compares them.
func normalise(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}
