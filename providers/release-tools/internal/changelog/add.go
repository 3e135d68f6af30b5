package changelog

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/yuin/goldmark/ast"
)

// Standard are the categories of Keep a Changelog, in its order.
var Standard = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

// mostEntry is the largest entry that is taken, in bytes.
const mostEntry = 8 << 10

// Add returns the file with entries more in the Unreleased section, in the order they are given. category is one that the
// file or Keep a Changelog knows, in any case, or "" for the list above the first of them. A list goes on as it is
// written; a category that is not there yet is put in its usual place. Everything else keeps its bytes. What the result
// says is read back before it is returned.
func (d *Document) Add(category string, entries ...string) ([]byte, error) {
	after, err := d.add(Category{Name: category, Entries: entries})
	if err != nil {
		return nil, err
	}
	return after.src, nil
}

// add is Add for several categories, one after the other; it returns the file as it was read back, once for all of them.
func (d *Document) add(groups ...Category) (*Document, error) {
	next := d
	var added []Category
	for _, g := range groups {
		a, err := next.adder(g)
		if err != nil {
			return nil, err
		}
		if len(a.entries) > 0 {
			next = next.with(a.u, a.edit())
			added = append(added, Category{Name: a.category, Entries: a.entries})
		}
	}
	if len(added) == 0 {
		return d, nil
	}
	return d.readBack(next.src, added)
}

func (d *Document) adder(g Category) (a adder, err error) {
	a.d = d
	if a.u, err = d.Unreleased(); err != nil {
		return a, err
	}
	a.eol = d.lineEnding(d.blocks[a.u.block].lines)
	if a.category, err = d.Category(g.Name); err != nil {
		return a, err
	}
	for _, e := range g.Entries {
		text, err := cleanEntry(e)
		if err != nil {
			return a, err
		}
		a.entries = append(a.entries, text)
	}
	return a, nil
}

// with is the file with an edit in a section, for working out the next one. Only the section is read anew: what stands
// around it starts and ends where a block of Markdown does, so that it reads the same. Whoever writes the bytes parses all
// of them first.
func (d *Document) with(s Section, e edit) *Document {
	next := &Document{name: d.name, src: apply(d.src, []edit{e})}
	grown := len(next.src) - len(d.src)
	end := len(next.src)
	if s.last < len(d.blocks) {
		end = d.blocks[s.last].start + grown
	}
	next.blocks = append(make([]block, 0, len(d.blocks)+8), d.blocks[:s.block]...)
	next.blocks = append(next.blocks, blocks(next.src[:end], d.blocks[s.block].start)...)
	for _, b := range d.blocks[s.last:] {
		next.blocks = append(next.blocks, b.moved(grown))
	}
	next.footer = next.findFooter()
	next.findSections()
	return next
}

// Category returns the spelling of a category that the file or Keep a Changelog knows, in any case; "" stays.
func (d *Document) Category(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", nil
	}
	var known []string
	for _, s := range d.Sections {
		for _, b := range d.within(s) {
			if b.kind != heading {
				continue
			}
			have := d.category(b)
			if strings.EqualFold(have, name) {
				return have, nil
			}
			if s.Unreleased && have != "" {
				known = append(known, have)
			}
		}
	}
	for _, c := range Standard {
		if strings.EqualFold(c, name) {
			return c, nil
		}
		if !slices.Contains(known, c) {
			known = append(known, c)
		}
	}
	return "", refusal.Argument("section", "unknown-section", "%q is no category of %s: use %s", name, d.name, strings.Join(known, ", "))
}

var bulleted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-*+](?:[ \t]+|$)`) })

// defines finds a line that Markdown reads as the definition of a link.
var defines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t>]*(?:[-*+][ \t]+)*\[[^\]\n]+\]:`) })

// cleanEntry takes off a bullet and what would be no text.
func cleanEntry(entry string) (string, error) {
	text := strings.TrimSpace(strings.ReplaceAll(entry, "\r\n", "\n"))
	text = strings.TrimSpace(bulleted().ReplaceAllString(text, ""))
	bad := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\uFFFD' })
	switch {
	case text == "":
		return "", refusal.Argument("entry", "invalid-entry", "it is empty: write what changed for the user")
	case bad >= 0:
		return "", refusal.Argument("entry", "invalid-entry", "byte %d of it is no text", bad)
	case defines().MatchString(text):
		return "", refusal.Argument("entry", "invalid-entry", "it defines a link, which would hold for the whole file: write the link in the text, as in [text](url)")
	case len(text) > mostEntry:
		return "", refusal.Argument("entry", "invalid-entry", "it is %d bytes long; at most %d are taken", len(text), mostEntry)
	}
	return text, nil
}

// adder works out the one edit of an Add.
type adder struct {
	d        *Document
	u        Section
	category string
	entries  []string
	eol      string
}

func (a *adder) edit() edit {
	blocks, found := a.region()
	if !found {
		return a.newCategory()
	}
	if i := slices.IndexFunc(blocks, isBulletList); i >= 0 {
		last := i
		for j := i + 1; j < len(blocks); j++ {
			if isBulletList(blocks[j]) {
				last = j
			}
		}
		return a.growList(blocks[last])
	}
	at := a.d.blocks[a.u.block].lines.end
	if len(blocks) > 0 {
		at = a.textEnd(span{blocks[0].start, min(blocks[len(blocks)-1].end, a.u.body.end)})
	}
	return a.insert(at, a.eol+a.list(a.custom()))
}

// region returns the blocks of the category, its heading first, up to the next heading.
func (a *adder) region() ([]block, bool) {
	inside := a.d.within(a.u)
	from := 0
	if a.category != "" {
		from = slices.IndexFunc(inside, func(b block) bool {
			return b.kind == heading && strings.EqualFold(a.d.category(b), a.category)
		})
		if from < 0 {
			return nil, false
		}
	}
	to := from
	for to < len(inside) && (inside[to].kind != heading || a.category != "" && to == from) {
		to++
	}
	return inside[from:to], true
}

func isBulletList(b block) bool {
	list, ok := b.node.(*ast.List)
	return ok && !list.IsOrdered()
}

var listItem = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^( {0,3}[-*+] {1,4})\S`) })

// growList adds items below the last one, with its bullet and spacing.
func (a *adder) growList(b block) edit {
	list := b.node.(*ast.List)
	prefix := a.prefix(b)
	text := a.list(prefix)
	if !list.IsTight {
		text = a.eol + strings.ReplaceAll(text, a.eol+prefix, a.eol+a.eol+prefix)
	}
	return a.insert(a.textEnd(span{b.start, min(b.end, a.u.body.end)}), text)
}

// prefix is how the last item of a list starts.
func (a *adder) prefix(b block) string {
	list := b.node.(*ast.List)
	if item, ok := list.LastChild().(*ast.ListItem); ok {
		line := a.d.src[lineStart(a.d.src, b.base+item.Pos()):]
		if m := listItem().FindSubmatch(line); m != nil {
			return string(m[1])
		}
	}
	return string(list.Marker) + " "
}

// custom is how items of the file's releases start.
func (a *adder) custom() string {
	for _, b := range a.d.blocks[a.u.block:] {
		if isBulletList(b) {
			return a.prefix(b)
		}
	}
	return "- "
}

// list writes the entries as items.
func (a *adder) list(prefix string) string {
	var out strings.Builder
	for _, e := range a.entries {
		for i, line := range strings.Split(e, "\n") {
			switch {
			case i == 0:
				out.WriteString(prefix + line)
			case strings.TrimSpace(line) != "":
				out.WriteString(strings.Repeat(" ", len(prefix)) + line)
			}
			out.WriteString(a.eol)
		}
	}
	return out.String()
}

// newCategory writes the category before the first that Keep a Changelog puts after it, or at the end.
func (a *adder) newCategory() edit {
	text := strings.Repeat("#", a.level()) + " " + a.category + a.eol + a.eol + a.list(a.custom())
	rank := slices.Index(Standard, a.category)
	for _, b := range a.d.within(a.u) {
		if b.kind != heading || rank < 0 {
			continue
		}
		if other := slices.Index(Standard, a.d.category(b)); other > rank {
			if !a.blankBefore(b.start) {
				text = a.eol + text
			}
			return edit{span{b.start, b.start}, text + a.eol}
		}
	}
	at := a.d.blocks[a.u.block].lines.end
	if len(bytes.TrimSpace(a.u.body.of(a.d.src))) > 0 {
		at = a.textEnd(a.u.body)
	}
	return a.insert(at, a.eol+text)
}

// level is that of the categories of the file.
func (a *adder) level() int {
	for _, s := range a.d.Sections {
		for _, b := range a.d.within(s) {
			if b.kind == heading {
				return b.level
			}
		}
	}
	return min(6, a.d.blocks[a.u.block].level+1)
}

func (a *adder) blankBefore(at int) bool {
	return at == 0 || len(bytes.TrimSpace(a.d.src[lineStart(a.d.src, at-1):at])) == 0
}

// textEnd is the end of the last line in s that is not blank.
func (a *adder) textEnd(s span) int {
	text := len(bytes.TrimRight(s.of(a.d.src), " \t\r\n"))
	return lineEnd(a.d.src, s.start+max(0, text-1))
}

// insert puts whole lines at the start of a line, or after a last line that has no ending. A blank line keeps them from
// what follows, unless that is an item or blank itself.
func (a *adder) insert(at int, text string) edit {
	if at == len(a.d.src) && !bytes.HasSuffix(a.d.src, []byte("\n")) {
		return edit{span{at, at}, a.eol + strings.TrimSuffix(text, a.eol)}
	}
	if next := a.d.src[at:lineEnd(a.d.src, min(at, len(a.d.src)))]; len(bytes.TrimSpace(next)) > 0 && strings.HasPrefix(text, a.eol) {
		text += a.eol
	}
	return edit{span{at, at}, text}
}
