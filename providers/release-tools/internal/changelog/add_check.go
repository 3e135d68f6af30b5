package changelog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// readBack parses the result and makes sure that it says what it said before, and what was added.
func (d *Document) readBack(after []byte, added []Category) (*Document, error) {
	was, err := d.Unreleased()
	if err != nil {
		return nil, err
	}
	fail := func(why string) error {
		return refusal.New("cannot-place", "cannot add the entry to %s below line %d: %s; add it by hand", d.name, was.Line, why)
	}
	next, err := Parse(d.name, after)
	if err != nil {
		return nil, err
	}
	u, err := next.Unreleased()
	switch {
	case err != nil:
		return nil, fail(err.Error())
	case len(next.Sections) != len(d.Sections) || len(next.Odd) != len(d.Odd):
		return nil, fail(fmt.Sprintf("%d headings of versions would become %d", len(d.Sections), len(next.Sections)))
	case len(next.definitions()) != len(d.definitions()):
		return nil, fail("the link lines of the file would change")
	}
	for i, s := range d.Sections {
		if !s.Unreleased && !bytes.Equal(d.text(s), next.text(next.Sections[i])) {
			return nil, fail("version " + s.Label + " would change")
		}
	}
	return next, readEntries(d.Categories(was), next.Categories(u), added, fail)
}

// readEntries compares the entries of the section: those of each category that got some stand together in it, the others
// as before.
func readEntries(before, after, added []Category, fail func(string) error) error {
	for _, g := range added {
		i, at := find(after, g)
		if i < 0 {
			return fail("Markdown would read it as something else than an entry of its own")
		}
		after[i].Entries = slices.Delete(slices.Clone(after[i].Entries), at, at+len(g.Entries))
		if len(after[i].Entries) == 0 && !slices.ContainsFunc(before, g.sameName) {
			after = slices.Delete(after, i, i+1)
		}
	}
	if !slices.EqualFunc(before, after, sameCategory) {
		return fail("other entries would change")
	}
	return nil
}

// find returns which of the categories holds the entries of g one after the other, and where; -1 if none does.
func find(categories []Category, g Category) (category, at int) {
	for i, c := range categories {
		if !g.sameName(c) {
			continue
		}
		if at := followed(c.Entries, g.Entries); at >= 0 {
			return i, at
		}
	}
	return -1, -1
}

func (c Category) sameName(other Category) bool { return strings.EqualFold(c.Name, other.Name) }

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
