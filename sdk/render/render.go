// Package render builds what a provider shows to a person. A node says what a thing is; how it looks is the
// business of whoever paints it.
package render

import (
	"strings"
	"unicode/utf8"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// Node is one thing to show. The zero value is nil and shows nothing.
type Node = *renderv1.RenderNode

// Style is the meaning of a text.
type Style = renderv1.TextStyle

// Styles.
const (
	Normal  = renderv1.TextStyle_TEXT_STYLE_NORMAL
	Bold    = renderv1.TextStyle_TEXT_STYLE_BOLD
	Italic  = renderv1.TextStyle_TEXT_STYLE_ITALIC
	Mono    = renderv1.TextStyle_TEXT_STYLE_CODE
	Dim     = renderv1.TextStyle_TEXT_STYLE_DIM
	Error   = renderv1.TextStyle_TEXT_STYLE_ERROR
	Warning = renderv1.TextStyle_TEXT_STYLE_WARNING
	Success = renderv1.TextStyle_TEXT_STYLE_SUCCESS
)

// Tree wraps a node for the wire. Of a nil node it makes an empty group.
func Tree(n Node) *renderv1.RenderTree {
	if n == nil {
		n = Group()
	}
	return &renderv1.RenderTree{Root: n}
}

// Text is plain text.
func Text(content string) Node { return Styled(Normal, content) }

// Styled is text with a meaning.
func Styled(style Style, content string) Node {
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Text{Text: &renderv1.TextNode{Content: valid(content), Style: &style}}}
}

// Code is preformatted text. The language may be empty.
func Code(language, content string) Node {
	block := &renderv1.CodeBlockNode{Content: valid(content)}
	if language != "" {
		block.Language = &language
	}
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_CodeBlock{CodeBlock: block}}
}

// Table is rows under headers. Short rows are filled with empty cells.
func Table(headers []string, rows ...[]string) Node {
	table := &renderv1.TableNode{Headers: validAll(headers), Rows: make([]*renderv1.TableRow, len(rows))}
	whole := make([]renderv1.TableRow, len(rows)) // in one piece: there may be ten thousand
	for i, row := range rows {
		cells := validAll(row)
		for len(cells) < len(headers) {
			cells = append(cells, "")
		}
		whole[i].Cells, table.Rows[i] = cells, &whole[i]
	}
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: table}}
}

// Link is a text that leads to a URL.
func Link(text, url string) Node {
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Link{Link: &renderv1.LinkNode{Text: valid(text), Url: valid(url)}}}
}

// List is a bulleted list.
func List(items ...Node) Node { return list(false, items) }

// Ordered is a numbered list.
func Ordered(items ...Node) Node { return list(true, items) }

func list(ordered bool, items []Node) Node {
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_List{List: &renderv1.ListNode{Items: present(items), Ordered: ordered}}}
}

// Group shows its children one after another.
func Group(children ...Node) Node {
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Group{Group: &renderv1.GroupNode{Children: present(children)}}}
}

// Collapsible hides its children behind a summary where that is possible.
func Collapsible(summary string, children ...Node) Node {
	return &renderv1.RenderNode{Node: &renderv1.RenderNode_Collapsible{Collapsible: &renderv1.CollapsibleNode{
		Summary: valid(summary), Children: present(children), CollapsedByDefault: true,
	}}}
}

// present leaves out nil nodes, which the wire cannot carry.
func present(nodes []Node) []Node {
	kept := make([]Node, 0, len(nodes))
	for _, n := range nodes {
		if n != nil {
			kept = append(kept, n)
		}
	}
	return kept
}

// valid makes text fit for the wire: one byte that is not UTF-8 would fail the whole message.
func valid(s string) string {
	if utf8.ValidString(s) { // which is soon seen
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func validAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = valid(s)
	}
	return out
}
