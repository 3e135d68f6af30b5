package lineedit

import (
	"strings"

	"github.com/agentco/agent/kernel/internal/paint"
)

// menu is the list of choices under the line.
type menu struct {
	Completions
	before   buffer // the text before anything was chosen
	selected int    // -1 for none
	widest   int    // columns of the widest label
}

func newMenu(c Completions, before buffer) *menu {
	m := &menu{Completions: c, before: before, selected: -1}
	for _, choice := range c.Choices {
		m.widest = max(m.widest, paint.Width(paint.Line(choice.label())))
	}
	return m
}

// complete does as much as the choices agree on, and lists them when there are several.
func (l *line) complete() {
	if l.editor.Complete == nil {
		return
	}
	c := l.editor.Complete(l.text, l.at)
	if len(c.Choices) == 0 || c.From < 0 || c.From > l.at {
		return
	}
	common := c.Choices[0].Text
	for _, choice := range c.Choices[1:] {
		common = commonPrefix(common, choice.Text)
	}
	// Less than what is there is no progress: the choices may begin with something else.
	if len(common) >= l.at-c.From || len(c.Choices) == 1 {
		l.replace(c.From, common)
	}
	if len(c.Choices) > 1 {
		l.menu = newMenu(c, l.buffer)
	}
}

// replace puts a text where the completed one is.
func (l *line) replace(from int, text string) {
	l.cut(from)
	l.insert(text)
}

// commonPrefix never ends in the middle of a character.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) {
		end := after(a, n)
		if !strings.HasPrefix(b[n:], a[n:end]) {
			break
		}
		n = end
	}
	return a[:n]
}

// choose does what a key does while choices are listed; false when it does what it does otherwise.
func (l *line) choose(k key) bool {
	switch k.command {
	case complete, next:
		l.selectChoice(l.menu.selected + 1)
	case completeBack, previous:
		l.selectChoice(max(l.menu.selected, 0) + len(l.menu.Choices) - 1)
	case enter:
		chosen := l.menu.selected >= 0
		l.menu = nil
		return chosen
	case escape:
		l.buffer, l.menu = l.menu.before, nil
	default:
		l.menu = nil
		return false
	}
	return true
}

func (l *line) selectChoice(i int) {
	m := l.menu
	m.selected = i % len(m.Choices)
	l.buffer = m.before
	l.replace(m.From, m.Choices[m.selected].Text)
}

// label is how a choice is listed.
func (c Choice) label() string {
	if c.Label != "" {
		return c.Label
	}
	return strings.TrimSuffix(c.Text, " ")
}
