package changelog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// readBack parses the result and makes sure that it says what it said before, and the entries.
func (a *adder) readBack(after []byte) (*Document, error) {
	fail := func(why string) error {
		return refusal.New("cannot-place", "cannot add the entry to %s below line %d: %s; add it by hand", a.d.name, a.u.Line, why)
	}
	next, err := Parse(a.d.name, after)
	if err != nil {
		return nil, err
	}
	u, err := next.Unreleased()
	switch {
	case err != nil:
		return nil, fail(err.Error())
	case len(next.Sections) != len(a.d.Sections) || len(next.Odd) != len(a.d.Odd):
		return nil, fail(fmt.Sprintf("%d headings of versions would become %d", len(a.d.Sections), len(next.Sections)))
	case len(next.definitions()) != len(a.d.definitions()):
		return nil, fail("the link lines of the file would change")
	}
	for i, s := range a.d.Sections {
		if !s.Unreleased && a.d.Text(s) != next.Text(next.Sections[i]) {
			return nil, fail("version " + s.Label + " would change")
		}
	}
	return next, a.readEntries(next, u, fail)
}

// readEntries compares the entries of the section: the new ones stand together in their category, the others as before.
func (a *adder) readEntries(next *Document, u Section, fail func(string) error) error {
	before, after := a.d.Categories(a.u), next.Categories(u)
	for i, c := range after {
		if !strings.EqualFold(c.Name, a.category) {
			continue
		}
		at := followed(c.Entries, a.entries)
		if at < 0 {
			continue
		}
		after[i].Entries = slices.Delete(slices.Clone(c.Entries), at, at+len(a.entries))
		if len(before) < len(after) && len(after[i].Entries) == 0 {
			after = slices.Delete(after, i, i+1)
		}
		if !slices.EqualFunc(before, after, sameCategory) {
			return fail("other entries would change")
		}
		return nil
	}
	return fail("Markdown would read it as something else than an entry of its own")
}

func sameCategory(a, b Category) bool { return a.Name == b.Name && slices.Equal(a.Entries, b.Entries) }

// followed returns where in list the entries stand one after the other, or -1.
func followed(list, entries []string) int {
	for at := len(list) - len(entries); at >= 0; at-- {
		if slices.EqualFunc(list[at:at+len(entries)], entries, func(a, b string) bool { return flat(a) == flat(b) }) {
			return at
		}
	}
	return -1
}

// flat is an entry without what indentation does to blank lines and line ends.
func flat(entry string) string {
	lines := strings.Split(entry, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}

func (d *Document) definitions() []string {
	var labels []string
	for _, b := range d.blocks {
		if b.kind == definition {
			labels = append(labels, b.label)
		}
	}
	return labels
}
