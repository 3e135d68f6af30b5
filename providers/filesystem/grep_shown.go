package main

import (
	"fmt"
	"strings"

	"github.com/agentco/agent/sdk/render"
)

func showGrep(out grepOut) render.Node {
	var nodes []render.Node
	switch {
	case len(out.Matches) == 0:
	case out.Mode == "content":
		nodes = showLines(out.Matches)
	case out.Mode == "count":
		rows := make([][]string, len(out.Matches))
		for i, m := range out.Matches {
			rows[i] = []string{m.Path, fmt.Sprint(m.Count)}
		}
		nodes = append(nodes, render.Table([]string{"file", "lines"}, rows...))
	default:
		items := make([]render.Node, len(out.Matches))
		for i, m := range out.Matches {
			items[i] = render.Text(m.Path)
		}
		nodes = append(nodes, render.List(items...))
	}
	if out.Note != "" {
		nodes = append(nodes, render.Styled(render.Dim, out.Note))
	}
	return render.Group(nodes...)
}

// showLines shows the lines of each file with their numbers: with a colon those
// that match, with a dash those around them.
func showLines(matches []grepMatch) (nodes []render.Node) {
	var block strings.Builder
	for i, m := range matches {
		if i == 0 || m.Path != matches[i-1].Path {
			nodes = append(nodes, render.Styled(render.Bold, m.Path))
		}
		numbered(&block, m)
		if i == len(matches)-1 || m.Path != matches[i+1].Path {
			nodes = append(nodes, render.Code("", strings.TrimSuffix(block.String(), "\n")))
			block.Reset()
		}
	}
	return nodes
}

func numbered(block *strings.Builder, m grepMatch) {
	for i, line := range m.Before {
		fmt.Fprintf(block, "%d-%s\n", m.Line-len(m.Before)+i, line)
	}
	text := ""
	if m.Text != nil {
		text = *m.Text
	}
	last := m.Line
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(block, "%d:%s\n", last, line)
		last++
	}
	for i, line := range m.After {
		fmt.Fprintf(block, "%d-%s\n", last+i, line)
	}
}
