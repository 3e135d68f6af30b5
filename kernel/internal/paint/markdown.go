package paint

import (
	"strings"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// markdown paints a node as CommonMark.
func markdown(n *renderv1.RenderNode, depth int) []string {
	switch n := n.GetNode().(type) {
	case *renderv1.RenderNode_Text:
		return markdownText(n.Text)
	case *renderv1.RenderNode_CodeBlock:
		return fenced(n.CodeBlock.GetLanguage(), textLines(n.CodeBlock.GetContent()))
	case *renderv1.RenderNode_Diff:
		return fenced("diff", Painter{}.diff(n.Diff))
	case *renderv1.RenderNode_Table:
		return markdownTable(n.Table)
	case *renderv1.RenderNode_Link:
		return []string{markdownLink(n.Link)}
	case *renderv1.RenderNode_List:
		return markdownList(n.List, depth)
	case *renderv1.RenderNode_Group:
		return markdownGroup(n.Group.GetChildren(), depth)
	case *renderv1.RenderNode_Collapsible:
		head := []string{"**" + escape(Line(n.Collapsible.GetSummary())) + "**", ""}
		return append(head, markdownGroup(n.Collapsible.GetChildren(), depth+1)...)
	case *renderv1.RenderNode_SubSession:
		return []string{"Session " + span(Line(n.SubSession.GetSessionId())) + ": " + escape(Line(n.SubSession.GetSummary()))}
	case *renderv1.RenderNode_Action:
		return []string{escape(Line(n.Action.GetLabel())) + ": " + span(actionCommand(n.Action))}
	default:
		return []string{escape(unknownNode)}
	}
}

// markdownGroup separates its children by blank lines, so that they stay blocks of their own.
func markdownGroup(nodes []*renderv1.RenderNode, depth int) []string {
	var lines []string
	for i, n := range nodes {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, markdown(n, depth)...)
	}
	return lines
}

func markdownList(l *renderv1.ListNode, depth int) []string {
	var lines []string
	for i, item := range l.GetItems() {
		mark := listMark(l, i, "- ")
		lines = append(lines, indent(markdown(item, depth+1), mark, strings.Repeat(" ", len(mark)), depth)...)
	}
	return lines
}

func markdownText(t *renderv1.TextNode) []string {
	lines := textLines(t.GetContent())
	for i, l := range lines {
		switch t.GetStyle() {
		case renderv1.TextStyle_TEXT_STYLE_CODE:
			lines[i] = span(l)
		case renderv1.TextStyle_TEXT_STYLE_BOLD, renderv1.TextStyle_TEXT_STYLE_ERROR, renderv1.TextStyle_TEXT_STYLE_WARNING:
			lines[i] = around("**", escape(l))
		case renderv1.TextStyle_TEXT_STYLE_ITALIC:
			lines[i] = around("*", escape(l))
		default:
			lines[i] = escape(l)
		}
		// Without it a line break of the text would be a blank.
		if i < len(lines)-1 && lines[i] != "" {
			lines[i] += `\`
		}
	}
	return lines
}

// mostFilled is up to how many columns a row that is too short is filled up. What is missing is empty in any case.
const mostFilled = 16

func markdownTable(t *renderv1.TableNode) []string {
	headers := cleanCells(t.GetHeaders())
	columns := len(headers)
	for _, r := range t.GetRows() {
		columns = max(columns, len(r.GetCells()))
	}
	if columns == 0 {
		return nil
	}
	lines := []string{markdownRow(headers, columns), strings.Repeat("| --- ", columns) + "|"}
	for _, r := range t.GetRows() {
		lines = append(lines, markdownRow(cleanCells(r.GetCells()), min(columns, max(mostFilled, len(r.GetCells())))))
	}
	return lines
}

func markdownRow(cells []string, columns int) string {
	var b strings.Builder
	for i := range columns {
		b.WriteString("| ")
		if i < len(cells) && cells[i] != "" {
			b.WriteString(escape(cells[i]) + " ")
		}
	}
	return b.String() + "|"
}

func markdownLink(l *renderv1.LinkNode) string {
	text, url := Line(l.GetText()), Line(l.GetUrl())
	if text == "" {
		text = url
	}
	return "[" + escape(text) + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", `\`, "%5C").Replace(url) + ">)"
}
