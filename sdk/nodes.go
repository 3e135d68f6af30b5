package sdk

import (
	"fmt"

	"github.com/agentco/agent/sdk/render"
)

const (
	// deepestNode is how deep nodes may lie in each other: more than anybody can look at.
	deepestNode = 100
	// mostNodes is how many nodes there may be. More do not fit in a message, as none takes less than four bytes.
	mostNodes = messageBytes / 4
)

// unshowable says what keeps a node from being sent. Whatever else walks it would never end in one that holds itself.
func unshowable(node render.Node) string {
	return (&nodeCount{}).add(node, 1)
}

type nodeCount struct{ nodes int }

func (c *nodeCount) add(node render.Node, level int) string {
	c.nodes++
	switch {
	case level > deepestNode:
		return fmt.Sprintf("has nodes more than %d levels deep in each other, or one that holds itself", deepestNode)
	case c.nodes > mostNodes:
		return fmt.Sprintf("has more than %d nodes", mostNodes)
	}
	for _, children := range [][]render.Node{
		node.GetGroup().GetChildren(), node.GetList().GetItems(), node.GetCollapsible().GetChildren(),
	} {
		for _, child := range children {
			if fault := c.add(child, level+1); fault != "" {
				return fault
			}
		}
	}
	return ""
}
