package changelog

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Category is what stands under one heading of a section, such as Added. The text before the first one has no name.
type Category struct {
	Name    string
	Entries []string // the list items without their bullets; any other block as it is written
}

// Categories returns the entries of a section by category, in file order.
func (d *Document) Categories(s Section) []Category {
	var out []Category
	for _, b := range d.within(s) {
		switch b.kind {
		case heading:
			out = append(out, Category{Name: d.category(b)})
		case content:
			if len(out) == 0 {
				out = append(out, Category{})
			}
			c := &out[len(out)-1]
			c.Entries = append(c.Entries, d.entries(b, s.body.end)...)
		}
	}
	return out
}

// category is the name that a heading gives to what follows.
func (d *Document) category(heading block) string {
	return strings.TrimSpace(plain(heading.title.of(d.src)))
}

func (d *Document) entries(b block, end int) []string {
	end = min(end, b.end)
	list, ok := b.node.(*ast.List)
	if !ok {
		return []string{strings.TrimRight(plain(d.src[b.start:end]), "\n")}
	}
	var starts, offsets []int
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		if item, ok := n.(*ast.ListItem); ok {
			starts = append(starts, lineStart(d.src, b.base+item.Pos()))
			offsets = append(offsets, item.Offset)
		}
	}
	out := make([]string, len(starts))
	for i, at := range starts {
		stop := end
		if i+1 < len(starts) {
			stop = starts[i+1]
		}
		out[i] = unindent(plain(d.src[at:max(at, stop)]), offsets[i])
	}
	return out
}

// unindent takes the bullet off a list item and the same width off the lines after it.
func unindent(item string, width int) string {
	lines := strings.Split(strings.TrimRight(item, "\n"), "\n")
	for i, line := range lines {
		n := 0
		for n < len(line) && n < width && (i == 0 || line[n] == ' ' || line[n] == '\t') {
			n++
		}
		lines[i] = line[n:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
