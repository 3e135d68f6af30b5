package cli

import (
	"io"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// table prints rows the way a provider's table is painted.
func (a *app) table(headers []string, rows [][]string) {
	t := &renderv1.TableNode{Headers: headers}
	for _, cells := range rows {
		t.Rows = append(t.Rows, &renderv1.TableRow{Cells: cells})
	}
	tree := &renderv1.RenderTree{Root: &renderv1.RenderNode{Node: &renderv1.RenderNode_Table{Table: t}}}
	_, _ = io.WriteString(a.display.Out(), a.display.OutPainter().Tree(tree))
}
