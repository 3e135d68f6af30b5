package changelog

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// span is a half-open range of bytes of the file.
type span struct{ start, end int }

func (s span) of(src []byte) []byte { return src[s.start:s.end] }

type blockKind int

const (
	content    blockKind = iota
	heading              // title and level are set
	definition           // label and target are set
	comment              // an HTML comment and nothing else
	rule                 // a thematic break
)

// block is one block at the top level of the file. What is nested in a list or a quotation is never a release.
type block struct {
	kind  blockKind
	span  // whole lines; end is where the next block starts
	node  ast.Node
	base  int // where in the file the positions of node count from
	level int

	lines  span // of a heading: its line, or its text and underline, each with the line ending
	title  span // of a heading: its text
	setext bool

	label  string // of a definition, normalised
	target span   // of a definition: its URL; empty if it is not on the line of the label
}

// Inline parsing is left out: headings are read by their text, and a file of half a megabyte stays cheap.
var markdown = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
)

// How deep quotations and lists may be nested in a line, how far one may be indented, in bytes, and how many lines in a row
// may define links: Markdown takes time by the square of each.
const (
	mostNested   = 100
	mostIndented = 1000
	mostDefined  = 20_000
)

// excess is where the first line starts that goes beyond that, and what is to do; "" if there is none.
func excess(src []byte) (at int, why string) {
	for defined := 0; at < len(src); {
		nested, blank := 0, 0
		i := at
		for ; i < len(src) && bytes.IndexByte([]byte(" \t>-*+.)0123456789"), src[i]) >= 0; i++ {
			switch spaced := i+1 < len(src) && (src[i+1] == ' ' || src[i+1] == '\t'); {
			case src[i] == ' ', src[i] == '\t':
				blank++
			case src[i] == '>', spaced: // the mark of an item
				nested++
			}
		}
		if nested > mostNested || blank > mostIndented {
			return at, fmt.Sprintf("is nested deeper than %d levels; quote and indent less there", mostNested)
		}
		if i == len(src) || src[i] != '[' {
			defined = 0
		} else if defined++; defined > mostDefined {
			return at, fmt.Sprintf("follows %d others that define links; put blank lines between them", mostDefined)
		}
		at = lineEnd(src, i)
	}
	return at, ""
}

// blocks returns the top-level blocks of src in order, from the byte where one may start.
func blocks(src []byte, from int) []block {
	body := src[from:]
	root := markdown.Parse(text.NewReader(body))
	out := make([]block, 0, root.ChildCount())
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		at := position(n)
		if at < 0 {
			continue
		}
		out = append(out, describe(n, src, from, from+at))
	}
	for i := range out {
		out[i].end = len(src)
		if i+1 < len(out) {
			out[i].end = out[i+1].start
		}
	}
	return out
}

// position is where the first byte of n lies, or -1 for a block that has none.
func position(n ast.Node) int {
	if l := n.Lines(); l != nil && l.Len() > 0 && n.Kind() != ast.KindFencedCodeBlock {
		return l.At(0).Start
	}
	if n.Pos() >= 0 {
		return n.Pos()
	}
	for c := n.FirstChild(); c != nil && c.Type() != ast.TypeInline; c = c.NextSibling() {
		if at := position(c); at >= 0 {
			return at
		}
	}
	return -1
}

func describe(n ast.Node, src []byte, base, at int) block {
	b := block{node: n, base: base, span: span{start: max(base, lineStart(src, at))}}
	switch n := n.(type) {
	case *ast.Heading:
		b.kind, b.level = heading, n.Level
		b.locateHeading(n, src, base, at)
	case *ast.LinkReferenceDefinition:
		b.kind, b.label = definition, normalise(string(n.Label))
		b.locateTarget(src, at, n.Destination)
	case *ast.ThematicBreak:
		b.kind = rule
	case *ast.HTMLBlock:
		if isComment(n, src[base:]) {
			b.kind = comment
		}
	}
	return b
}

func (b *block) locateHeading(n *ast.Heading, src []byte, base, at int) {
	b.lines = span{b.start, lineEnd(src, at)}
	b.title = span{at, at}
	if n.Lines().Len() > 0 {
		first, last := n.Lines().At(0), n.Lines().At(n.Lines().Len()-1)
		b.title = trim(src, span{base + first.Start, base + last.Stop})
		b.lines.end = lineEnd(src, max(b.title.end, b.title.start+1)-1)
	}
	if !isATX(src[b.lines.start:b.lines.end]) {
		b.setext = true
		b.lines.end = lineEnd(src, min(b.lines.end, len(src)))
	}
}

func (b *block) locateTarget(src []byte, at int, destination []byte) {
	line := src[at:lineEnd(src, at)]
	colon := bytes.Index(line, []byte("]:"))
	if colon < 0 || len(destination) == 0 {
		return
	}
	if i := bytes.Index(line[colon:], destination); i >= 0 {
		b.target.start = at + colon + i
		b.target.end = b.target.start + len(destination)
	}
}

// moved is the block so many bytes further on.
func (b block) moved(by int) block {
	for _, s := range []*span{&b.span, &b.lines, &b.title, &b.target} {
		s.start, s.end = s.start+by, s.end+by
	}
	b.base += by
	return b
}

func isATX(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	n := len(line) - len(bytes.TrimLeft(line, "#"))
	return n >= 1 && n <= 6 && (n == len(line) || bytes.IndexByte([]byte(" \t\r\n"), line[n]) >= 0)
}

func isComment(n *ast.HTMLBlock, src []byte) bool {
	var raw []byte
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		raw = append(raw, line.Value(src)...)
	}
	if n.HasClosure() {
		raw = append(raw, n.ClosureLine.Value(src)...)
	}
	raw = bytes.TrimSpace(raw)
	return n.HTMLBlockType == ast.HTMLBlockType2 && bytes.HasSuffix(raw, []byte("-->"))
}

// lineStart is the first byte of the line that holds src[at].
func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// lineEnd is the first byte after the line that holds src[at], its line ending included.
func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

func lineNumber(src []byte, at int) int { return bytes.Count(src[:at], []byte("\n")) + 1 }

func trim(src []byte, s span) span {
	t := bytes.TrimSpace(s.of(src))
	if len(t) == 0 {
		return span{s.start, s.start}
	}
	s.start += bytes.Index(s.of(src), t)
	s.end = s.start + len(t)
	return s
}
