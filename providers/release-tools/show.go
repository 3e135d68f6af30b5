package main

import (
	"fmt"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/sdk/render"
)

func changelogNode(out changelogOut) render.Node {
	var nodes []render.Node
	if out.Unreleased != nil {
		nodes = append(nodes, render.Styled(render.Bold, "Unreleased"), markdownNode(*out.Unreleased))
	}
	if out.Version != "" {
		nodes = append(nodes, entryNodes(out.entry)...)
	}
	for _, r := range out.Releases {
		nodes = append(nodes, entryNodes(r)...)
	}
	return render.Group(nodes...)
}

func entryNodes(e entry) []render.Node {
	title := e.Version
	if e.Date != "" {
		title += " (" + e.Date + ")"
	}
	nodes := []render.Node{render.Styled(render.Bold, title)}
	if e.Yanked {
		nodes = append(nodes, render.Styled(render.Warning, "yanked"))
	}
	return append(nodes, categoryNodes(e.Sections)...)
}

// markdownNode shows the text of a section: what is a list in it becomes one.
func markdownNode(text string) render.Node {
	doc, err := changelog.Parse("", []byte("## Unreleased\n\n"+text))
	if err != nil || len(doc.Sections) != 1 {
		return render.Text(text)
	}
	shown := query{doc: doc}.categories(doc.Sections[0])
	if len(shown) == 0 {
		return render.Styled(render.Dim, "no entries")
	}
	return render.Group(categoryNodes(shown)...)
}

func categoryNodes(sections []category) []render.Node {
	var nodes []render.Node
	for _, c := range sections {
		if c.Name != "" {
			nodes = append(nodes, render.Styled(render.Italic, c.Name))
		}
		items := make([]render.Node, len(c.Entries))
		for i, e := range c.Entries {
			items[i] = render.Text(e)
		}
		nodes = append(nodes, render.List(items...))
	}
	return nodes
}

func releaseNode(out releaseOut) render.Node {
	where := out.Changelog + " waits in the working tree to be committed"
	if out.Committed {
		where = out.Changelog + " is part of it"
	}
	nodes := []render.Node{
		render.Styled(render.Success, "Released "+out.Tag),
		render.Text(out.Tag + " is at " + short(out.Commit) + "; " + where),
	}
	nodes = append(nodes, warningNodes(out.Warnings)...)
	return render.Group(append(nodes, diffNode(out.Diff))...)
}

func short(hash string) string { return hash[:min(7, len(hash))] }

// plural counts nouns that take an s, or ies for a y.
func plural(n int, noun string) string {
	switch root, y := strings.CutSuffix(noun, "y"); {
	case n == 1:
		return "1 " + noun
	case y:
		return fmt.Sprintf("%d %sies", n, root)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
