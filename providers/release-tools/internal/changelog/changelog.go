package changelog

import (
	"bytes"
	"fmt"

	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Section is one release, or the Unreleased part.
type Section struct {
	Unreleased bool
	Label      string           // the version as the heading spells it, without a "v"; "" for Unreleased
	Versions   []semver.Version // its strict versions: none for "18.3a0", several for a compound heading
	Date       string           // ISO where it can be read as such, else as written; "" if there is none
	Yanked     bool
	Pending    bool // marked TBD or the like: written down, not released
	Line       int  // of the heading, 1-based

	block int // index of the heading among the blocks
	last  int // index after its last block
	body  span
	title title
}

// Strict returns the version of the section as SemVer reads it.
func (s Section) Strict() (semver.Version, bool) {
	if len(s.Versions) == 0 {
		return semver.Version{}, false
	}
	return s.Versions[0], true
}

// Odd is a heading that starts like a version and is none.
type Odd struct {
	Text string
	Line int
}

// Document is a changelog that was read. It keeps the bytes it was read from and never changes them.
type Document struct {
	Sections []Section // in file order
	Odd      []Odd

	name   string
	src    []byte
	blocks []block
	footer int // where the link definitions at the end of the file start
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads a changelog. Any text is a changelog, if perhaps one without sections; only bytes that are no text fail.
// name is the file's name for messages.
func Parse(name string, src []byte) (*Document, error) {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return nil, unreadable(name, "it is UTF-16; save it as UTF-8")
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return nil, unreadable(name, fmt.Sprintf("line %d holds a NUL byte, so this is not a text file", lineNumber(src, i)))
	}
	if at, why := excess(src); why != "" {
		return nil, unreadable(name, fmt.Sprintf("line %d %s", lineNumber(src, at), why))
	}
	from := 0
	if bytes.HasPrefix(src, byteOrderMark) {
		from = len(byteOrderMark)
	}
	d := &Document{name: name, src: src, blocks: blocks(src, from)}
	d.footer = d.findFooter()
	d.findSections()
	return d, nil
}

// findFooter returns where the trailing run of link definitions (and the comments among them) starts.
func (d *Document) findFooter() int {
	at, any := len(d.src), false
	for i := len(d.blocks) - 1; i >= 0; i-- {
		switch b := d.blocks[i]; b.kind {
		case definition:
			at, any = b.start, true
		case comment:
			if any {
				at = b.start
			}
		default:
			return at
		}
	}
	return at
}

// findSections walks the headings. A section ends at the next one, or at a heading that does not lie below it.
func (d *Document) findSections() {
	level := 0 // of the section that is open, 0 if none is
	line, counted := 1, 0
	for i, b := range d.blocks {
		if b.kind != heading {
			continue
		}
		line, counted = line+bytes.Count(d.src[counted:b.start], []byte("\n")), b.start
		text := string(b.title.of(d.src))
		t := readTitle(text)
		nested := level > 0 && b.level > level
		switch {
		case t.unreleased && !nested, t.version.end > 0 && (!nested || t.bare):
			d.close(i)
			d.Sections = append(d.Sections, d.section(i, line, text, t))
			level = b.level
		case !nested:
			d.close(i)
			level = 0
			fallthrough
		default:
			if t.odd {
				d.Odd = append(d.Odd, Odd{text, line})
			}
		}
	}
	d.close(len(d.blocks))
}

// close ends the open section before block i.
func (d *Document) close(i int) {
	if len(d.Sections) == 0 || d.Sections[len(d.Sections)-1].last > 0 {
		return
	}
	s := &d.Sections[len(d.Sections)-1]
	s.last = i
	s.body = span{d.blocks[s.block].lines.end, len(d.src)}
	if i < len(d.blocks) {
		s.body.end = d.blocks[i].start
	}
	s.body.end = max(s.body.start, min(s.body.end, d.footer))
}

func (d *Document) section(i, line int, text string, t title) Section {
	s := Section{Line: line, Unreleased: t.unreleased, Yanked: t.yanked, Pending: t.pending, block: i, title: t}
	s.Label = text[t.version.start:t.version.end]
	s.Versions = versionsIn(s.Label)
	s.Date = dateText(text[t.date.start:t.date.end])
	return s
}

// within returns the blocks of a section, its heading and the definitions at the end of the file left out.
func (d *Document) within(s Section) []block {
	inside := d.blocks[s.block+1 : s.last]
	for len(inside) > 0 && inside[len(inside)-1].start >= d.footer {
		inside = inside[:len(inside)-1]
	}
	return inside
}
