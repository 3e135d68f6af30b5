package main

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentco/agent/providers/filesystem/internal/diff"
	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

// A diff shows so many lines around a change.
const contextLines = 3

// unified is the change as a diff, within what a result may hold. It looks only
// at the lines that differ, however large the file is.
func (c *change) unified() (unified string, clipped bool) {
	return c.unifiedWithin(c.w.maxResult, c.w.maxResult)
}

// longestPlanned is how long a line of a diff is that a person has to approve:
// what changes in a longer one would not be found.
const longestPlanned = 2 << 10

// unifiedWithin is unified for when others take from the room too, with lines of
// at most longest bytes. What does not fit is an excerpt.
func (c *change) unifiedWithin(limit, longest int) (unified string, clipped bool) {
	if c.before.exists && c.before.bytes == nil || c.after == nil && c.size > 0 {
		return "", true
	}
	was, is, above := text.Difference(c.before.bytes, c.after, contextLines, 2*limit+diff.Thorough)
	before, after, ok := c.texts(was, is)
	if !ok {
		return "", true
	}
	if !was.Cut && !is.Cut {
		unified, clipped = diff.Between(c.target.name, before, after, above, limit)
		switch {
		case unified == "" && !clipped && !bytes.Equal(c.before.bytes, c.after):
			return diff.OfForm(c.target.name, form(c.before.bytes), form(c.after)), true
		case !clipped && diff.LongestLine(unified) <= longest:
			return unified, false
		}
	}
	return c.excerpt(limit, longest), true
}

// excerpt shows line ends only if nothing else changes.
func (c *change) excerpt(limit, longest int) string {
	for _, strict := range []bool{false, true} {
		regions := text.Regions(c.before.bytes, c.after, strict)
		for range regions {
			return diff.Excerpt(c.target.name, regions, strict, limit, longest)
		}
	}
	return diff.OfForm(c.target.name, form(c.before.bytes), form(c.after))
}

// form is how a text is written down.
func form(file []byte) string {
	v := text.NewView(file)
	return v.Census.Encoding(v.Format) + " with line ends " + v.Census.LineEnding()
}

// texts are the two parts, as far as they were cut, as people see them. Line ends are shown only if they
// are what changed. They are not for a file that is binary.
func (c *change) texts(was, is text.Part) (before, after diff.Side, ok bool) {
	wide := text.Detect(c.before.bytes).Wide() || text.Detect(c.after).Wide()
	from, to := text.Detect(c.before.bytes).View(was.Raw), text.Detect(c.after).View(is.Raw)
	if from.Census.Binary() || to.Census.Binary() {
		return before, after, false
	}
	before = diff.Side{Text: string(from.Text), Lines: was.Lines}
	after = diff.Side{Text: string(to.Text), Lines: is.Lines}
	if before.Text == after.Text && !wide {
		before.Text, after.Text = strings.ToValidUTF8(string(was.Raw), "\uFFFD"), strings.ToValidUTF8(string(is.Raw), "\uFFFD")
	}
	return before, after, true
}

// planned is the change as it is shown to whoever has to approve it.
func (c *change) planned() (unified string, clipped bool) {
	return c.unifiedWithin(c.w.maxResult, longestPlanned)
}

// plan shows the change without making it.
func (c *change) plan() sdk.Plan {
	unified, clipped := c.planned()
	return sdk.Shows(showChange(c.title(), unified, clipped)...)
}

func (c *change) title() string {
	if !c.before.exists {
		return "create " + c.target.shown()
	}
	return c.doing + " " + c.target.shown()
}

func showChange(title, unified string, clipped bool) []render.Node {
	nodes := []render.Node{render.Styled(render.Bold, title)}
	if unified != "" {
		nodes = append(nodes, diff.Node(unified))
	}
	switch {
	case clipped && unified == "":
		nodes = append(nodes, render.Styled(render.Dim, "The change cannot be shown as text."))
	case clipped:
		nodes = append(nodes, render.Styled(render.Dim, sentence(diff.Remark(unified))))
	case unified == "":
		nodes = append(nodes, render.Styled(render.Dim, "Nothing changes."))
	}
	return nodes
}

func sentence(remark string) string {
	first, size := utf8.DecodeRuneInString(remark)
	return string(unicode.ToUpper(first)) + remark[size:] + "."
}
