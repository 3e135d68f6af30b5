package changelog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Unreleased returns the one Unreleased section.
func (d *Document) Unreleased() (Section, error) {
	var found []Section
	for _, s := range d.Sections {
		if s.Unreleased {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Section{}, d.noUnreleased()
	}
	lines := make([]string, len(found))
	for i, s := range found {
		lines[i] = fmt.Sprint(s.Line)
	}
	return Section{}, refusal.New("ambiguous-unreleased", "%s has %d Unreleased headings, on lines %s: merge them into one",
		d.name, len(found), strings.Join(lines, " and "))
}

func (d *Document) noUnreleased() error {
	if len(d.Sections) == 0 {
		return refusal.Missing("no-unreleased-section", "%s has no Unreleased section and no version heading: add a heading \"## [Unreleased]\" on line %d",
			d.name, min(bytes.Count(d.src, []byte("\n"))+1, 3))
	}
	first := d.Sections[0]
	return refusal.Missing("no-unreleased-section", "%s has no Unreleased section: add a heading \"## [Unreleased]\" above %s on line %d",
		d.name, first.Label, first.Line)
}

// Released returns the sections that stand for a release, in file order. One without a date is a plan, not a release,
// unless no section of the file has one.
func (d *Document) Released() []Section {
	dates := slices.ContainsFunc(d.Sections, func(s Section) bool { return s.Date != "" })
	var out []Section
	for _, s := range d.Sections {
		if !s.Unreleased && !s.Pending && (s.Date != "" || !dates) {
			out = append(out, s)
		}
	}
	return out
}

// Find returns the section of a version, given as the file spells it or with a "v" before it.
func (d *Document) Find(version string) (Section, error) {
	want := strings.TrimPrefix(version, "v")
	exact, err := semver.Parse(want)
	for _, s := range d.Sections {
		if s.Unreleased {
			continue
		}
		if strings.EqualFold(s.Label, want) || slices.Contains(strings.Split(s.Label, "/"), want) {
			return s, nil
		}
		if err == nil && slices.ContainsFunc(s.Versions, func(v semver.Version) bool { return semver.Compare(v, exact) == 0 }) {
			return s, nil
		}
	}
	return Section{}, d.unknown(want)
}

// Since returns the released sections with a higher precedence than a version that is in the file, in file order.
// A section without a strict version has no precedence: it is newer if it stands above.
func (d *Document) Since(version string) ([]Section, error) {
	base, err := d.Find(version)
	if err != nil {
		return nil, err
	}
	from, strict := base.Strict()
	var out []Section
	for _, s := range d.Sections {
		v, ok := s.Strict()
		newer := s.Line < base.Line
		if ok && strict {
			newer = semver.Less(from, v)
		}
		if newer && !s.Unreleased {
			out = append(out, s)
		}
	}
	return out, nil
}

func (d *Document) unknown(version string) error {
	msg := fmt.Sprintf("version %s is not in %s", version, d.name)
	if near := d.nearest(version); len(near) > 0 {
		msg += "; the nearest are " + strings.Join(near, " and ")
	}
	const most = 3
	for _, o := range d.Odd[:min(most, len(d.Odd))] {
		msg += fmt.Sprintf("; the heading %.80q on line %d looks like a version and is none", o.Text, o.Line)
	}
	if more := len(d.Odd) - most; more > 0 {
		msg += fmt.Sprintf("; neither are %d more", more)
	}
	return refusal.Missing("unknown-version", "%s", msg)
}

// nearest names the closest version below and the closest above, or the first two if the order says nothing.
func (d *Document) nearest(version string) []string {
	want, err := semver.Parse(version)
	var below, above *Section
	var names []string
	for i := range d.Sections {
		s := &d.Sections[i]
		v, ok := s.Strict()
		if s.Unreleased {
			continue
		}
		names = append(names, s.Label)
		if err != nil || !ok {
			continue
		}
		if semver.Less(v, want) && (below == nil || semver.Less(below.Versions[0], v)) {
			below = s
		}
		if semver.Less(want, v) && (above == nil || semver.Less(v, above.Versions[0])) {
			above = s
		}
	}
	if below == nil && above == nil {
		return names[:min(2, len(names))]
	}
	names = nil
	for _, s := range []*Section{below, above} {
		if s != nil {
			names = append(names, s.Label)
		}
	}
	return names
}

// Bytes is the file. They are not to be changed.
func (d *Document) Bytes() []byte { return d.src }

// Text returns what stands under the heading of a section: verbatim, with LF line endings and no blank lines around it.
func (d *Document) Text(s Section) string { return plain(d.text(s)) }

// text is what stands under the heading of a section, as it is in the file.
func (d *Document) text(s Section) []byte { return s.body.of(d.src) }

// plain turns bytes of the file into text for a reader.
func plain(raw []byte) string {
	text := strings.ToValidUTF8(string(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))), "\uFFFD")
	text = strings.TrimRight(text, " \t\n")
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found || strings.TrimSpace(line) != "" {
			break
		}
		text = rest
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text + "\n"
}

// Empty reports whether a section holds nothing to release: no entry and no text, at most headings and comments.
func (d *Document) Empty(s Section) bool {
	return !slices.ContainsFunc(d.within(s), func(b block) bool { return b.kind == content })
}

func unreadable(name, why string) error {
	return refusal.New("unreadable-changelog", "cannot read %s as Markdown: %s", name, why)
}
