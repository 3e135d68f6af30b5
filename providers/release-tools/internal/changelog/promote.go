package changelog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Release is what Promote writes down.
type Release struct {
	Version  semver.Version
	Tag      string
	Date     string // ISO day
	Previous string // the tag to compare with, "" for the first release
	Links    Links
}

// Promotion is a changelog with one release more.
type Promotion struct {
	After    []byte
	Notes    string   // the text of the new section
	Warnings []string // what a person should know and nothing has to stop for
}

// edit replaces a span, which may be empty.
type edit struct {
	span
	text string
}

// Promote turns the Unreleased section into a release. The Unreleased heading stays where it is, as it is spelled, for
// the entries to come; a heading for the version goes below it, empty categories go away, the link lines of the two are
// refreshed. No other byte changes. What the result says is read back before it is returned.
func (d *Document) Promote(rel Release) (Promotion, error) {
	u, err := d.Unreleased()
	if err != nil {
		return Promotion{}, err
	}
	if d.Empty(u) {
		return Promotion{}, refusal.New("nothing-to-release",
			"%s has nothing to release: the Unreleased section on line %d holds no entry", d.name, u.Line)
	}
	if old, err := d.Find(rel.Version.String()); err == nil {
		return Promotion{}, refusal.New("version-exists", "%s has version %s already, on line %d: choose a newer one",
			d.name, old.Label, old.Line)
	}
	p := promoter{d: d, rel: rel, u: u, newest: d.newest(u), eol: d.lineEnding(d.blocks[u.block].lines)}
	p.dropEmpty()
	p.heading()
	p.link()
	out := Promotion{After: apply(d.src, p.edits), Warnings: p.warnings}
	out.Notes, err = p.readBack(out.After)
	return out, err
}

// promoter collects the edits of one Promote.
type promoter struct {
	d        *Document
	rel      Release
	u        Section
	newest   *Section // whose style the new heading follows; nil if nothing was released yet
	eol      string
	edits    []edit
	warnings []string
	label    string // to define at the end of the file, "" if the heading is no reference
	defined  bool   // a definition of label was inserted
	url      string // of the new heading if it links inline
}

// newest is the released section that follows Unreleased most closely, or the first of the file.
func (d *Document) newest(u Section) *Section {
	released := d.Released()
	if i := slices.IndexFunc(released, func(s Section) bool { return s.Line > u.Line }); i >= 0 {
		return &released[i]
	}
	if len(released) > 0 {
		return &released[0]
	}
	return nil
}

// lineEnding is the one a line has, or the first of the file if it has none.
func (d *Document) lineEnding(line span) string {
	raw := line.of(d.src)
	if !bytes.HasSuffix(raw, []byte("\n")) {
		raw = d.src[:lineEnd(d.src, 0)]
	}
	if bytes.HasSuffix(raw, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// dropEmpty removes the category headings of the section that have nothing below them, with the blank lines after.
func (p *promoter) dropEmpty() {
	var drops []span // those that touch are one
	inside := p.d.within(p.u)
	for i, b := range inside {
		if b.kind != heading || !hollow(inside[i:]) {
			continue
		}
		end := min(b.end, p.u.body.end)
		if n := len(drops); n > 0 && drops[n-1].end == b.start {
			drops[n-1].end = end
			continue
		}
		drops = append(drops, span{b.start, end})
	}
	for _, s := range drops {
		if s.end == len(p.d.src) {
			s.start = p.lastLine(s.start)
		}
		p.edits = append(p.edits, edit{span: s})
	}
}

// lastLine is where to cut so that the file ends, before at, as it ends now: right after a newline, or without one.
func (p *promoter) lastLine(at int) int {
	text := len(bytes.TrimRight(p.d.src[:at], " \t\r\n"))
	if bytes.HasSuffix(p.d.src, []byte("\n")) {
		return lineEnd(p.d.src, text)
	}
	return text
}

// hollow reports whether the first block, a heading, has only other headings between it and the next of its level.
func hollow(blocks []block) bool {
	for _, b := range blocks[1:] {
		if b.kind == heading && b.level <= blocks[0].level {
			break
		}
		if b.kind != heading {
			return false
		}
	}
	return true
}

// heading inserts the heading of the version below the Unreleased one.
func (p *promoter) heading() {
	text := p.headingText()
	h := p.d.blocks[p.u.block]
	marks := p.d.src[h.lines.start:h.title.start]
	line := string(marks) + text + p.eol
	if h.setext {
		under := bytes.TrimSpace(p.d.src[h.title.end:h.lines.end])
		line += strings.Repeat(string(under[:1]), len([]rune(text))) + p.eol
	}
	insert := p.eol + line
	next := p.d.src[h.lines.end:lineEnd(p.d.src, min(h.lines.end, len(p.d.src)))]
	if len(bytes.TrimSpace(next)) > 0 {
		insert += p.eol
	}
	p.edits = append(p.edits, edit{span{h.lines.end, h.lines.end}, insert})
}

// headingText spells the version and date as the newest release does.
func (p *promoter) headingText() string {
	version := p.rel.Version.String()
	if p.newest == nil {
		if p.u.title.bracket {
			p.label = version
			return "[" + version + "] - " + p.rel.Date
		}
		return version + " - " + p.rel.Date
	}
	old := string(p.d.blocks[p.newest.block].title.of(p.d.src))
	t := p.newest.title
	before := old[:t.version.start]
	closing := ""
	if t.bracket {
		closing = "]"
		p.label = before[1:] + version
	}
	if t.link.end > 0 {
		p.label = ""
		if p.url = p.versionURL(); p.url != "" {
			closing += "(" + p.url + ")"
		} else {
			before, closing = strings.TrimPrefix(before, "["), ""
		}
	}
	return before + version + closing + p.dateText(old, t)
}

// dateText is what follows the version: the date between the marks that the newest release puts around it.
func (p *promoter) dateText(old string, t title) string {
	if t.date.end == 0 {
		return ""
	}
	from := t.version.end
	if t.link.end > 0 {
		from = t.link.end + 1
	}
	between := strings.TrimPrefix(old[from:t.date.start], "]")
	if strings.Trim(between, separators) != "" {
		between = " - "
	}
	after := ""
	for _, pair := range []string{"()", "[]"} {
		if strings.HasSuffix(between, pair[:1]) && strings.HasPrefix(old[t.date.end:], pair[1:]) {
			after = pair[1:]
		}
	}
	if after == "" {
		between = strings.TrimRight(between, "([")
	}
	return between + p.rel.Date + after
}

// readBack parses the result and returns the text of the new section. It is the last word on whether the file could be
// edited: whatever Markdown does to the inserted lines shows here, and nothing has been written yet.
func (p *promoter) readBack(after []byte) (string, error) {
	d, rel := p.d, p.rel
	fail := func(why string) (string, error) {
		return "", refusal.New("cannot-place", "cannot place version %s in %s: %s", rel.Version, d.name, why)
	}
	next, err := Parse(d.name, after)
	if err != nil {
		return "", err
	}
	u, err := next.Unreleased()
	if err != nil {
		return fail(err.Error())
	}
	s, err := next.Find(rel.Version.String())
	switch {
	case err != nil:
		return fail("the heading below line " + fmt.Sprint(u.Line) + " would not be one")
	case len(next.Sections) != len(d.Sections)+1:
		return fail(fmt.Sprintf("%d sections would become %d", len(d.Sections), len(next.Sections)))
	case !next.Empty(u) || next.Empty(s):
		return fail(fmt.Sprintf("the entries under line %d would not move to it", u.Line))
	case p.defined && next.definitionOf(p.label) < 0:
		return fail("the link lines at its end would be text; is a code fence or comment left open?")
	}
	return next.Text(s), nil
}

// apply makes the edits, which do not overlap; of two at one place the earlier one comes first.
func apply(src []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(src[at:max(at, e.start)])
		out.WriteString(e.text)
		at = max(at, e.end)
	}
	out.Write(src[at:])
	return out.Bytes()
}
