// Package paint shows what providers send: trees that describe a thing, and raw output of commands.
//
//	RenderTree ─── Painter.Tree ──► text for a terminal, for a pipe, or as Markdown
//	output_chunk ─ Output.Chunk ──► text as it comes, a gutter telling stdout from stderr
//
// Nothing a provider sends is ever obeyed by a terminal. In trees every control character is made visible:
// C0 and DEL as control pictures (␛), C1, bidirectional and other invisible controls as <U+202E>; only line
// feeds and tabs keep their meaning. In raw output colours (SGR) pass where colours are wanted, every other
// escape sequence is dropped, and the rest is made visible as in trees. Whoever needs the exact bytes asks
// for events instead of paint.
package paint

import (
	"strings"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// Format is what a Painter paints for.
type Format int

// The formats.
const (
	// Plain is text without any escape sequence, for pipes and files.
	Plain Format = iota
	// Terminal is text with colours.
	Terminal
	// Markdown is CommonMark with tables.
	Markdown
)

// Painter paints trees. The zero value paints plain text of any width.
type Painter struct {
	Format Format
	// Width is the number of columns that tables keep to; zero for no limit.
	Width int
}

// maxIndent is where indentation stops, so that a tree a thousand levels deep does not become megabytes of blanks.
const maxIndent = 16

// unknownNode stands for a node of a protocol newer than this painter.
const unknownNode = "[something this version cannot show]"

// Tree paints a whole tree. What is not empty ends with a line feed.
func (p Painter) Tree(t *renderv1.RenderTree) string {
	if t.GetRoot() == nil {
		return ""
	}
	var lines []string
	if p.Format == Markdown {
		lines = markdown(t.GetRoot(), 0)
	} else {
		lines = p.node(t.GetRoot(), 0)
	}
	return joined(lines)
}

// joined are lines as one text.
func joined(lines []string) string {
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

func (p Painter) node(n *renderv1.RenderNode, depth int) []string {
	switch n := n.GetNode().(type) {
	case *renderv1.RenderNode_Text:
		return p.styled(styles[n.Text.GetStyle()], textLines(n.Text.GetContent()))
	case *renderv1.RenderNode_CodeBlock:
		return textLines(n.CodeBlock.GetContent())
	case *renderv1.RenderNode_Diff:
		return p.diff(n.Diff)
	case *renderv1.RenderNode_Table:
		return p.table(n.Table)
	case *renderv1.RenderNode_Link:
		return []string{p.link(n.Link)}
	case *renderv1.RenderNode_List:
		return p.list(n.List, depth)
	case *renderv1.RenderNode_Group:
		return p.group(n.Group.GetChildren(), depth)
	case *renderv1.RenderNode_Collapsible:
		head := p.style(bold, "▾ "+Line(n.Collapsible.GetSummary()))
		return append([]string{head}, indent(p.group(n.Collapsible.GetChildren(), depth+1), "  ", "  ", depth)...)
	case *renderv1.RenderNode_SubSession:
		return []string{p.style(dim, "↳ session "+Line(n.SubSession.GetSessionId())) + " " + Line(n.SubSession.GetSummary())}
	case *renderv1.RenderNode_Action:
		return []string{p.style(bold, "→ "+Line(n.Action.GetLabel())) + ": " + p.style(cyan, actionCommand(n.Action))}
	default:
		return []string{p.style(dim, unknownNode)}
	}
}

func (p Painter) group(nodes []*renderv1.RenderNode, depth int) []string {
	var lines []string
	for _, n := range nodes {
		lines = append(lines, p.node(n, depth)...)
	}
	return lines
}

func (p Painter) list(l *renderv1.ListNode, depth int) []string {
	var lines []string
	for i, item := range l.GetItems() {
		mark := listMark(l, i, "• ")
		lines = append(lines, indent(p.node(item, depth+1), mark, strings.Repeat(" ", Width(mark)), depth)...)
	}
	return lines
}

func (p Painter) link(l *renderv1.LinkNode) string {
	text, url := Line(l.GetText()), p.style(underline, Line(l.GetUrl()))
	if text == "" || l.GetText() == l.GetUrl() {
		return url
	}
	return text + " <" + url + ">"
}

// indent puts first before the first line and rest before the others.
func indent(lines []string, first, rest string, depth int) []string {
	if depth >= maxIndent {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = rest + l
		if i == 0 {
			out[i] = first + l
		}
	}
	return out
}
