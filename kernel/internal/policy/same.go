package policy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Key is the same for matches that are about the same calls however their patterns are written, as far as that can be
// read from them, and another for all others.
func (m Match) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %d %d", m.ToolName, m.Provider, m.Risk, m.Kind)
	for _, name := range slices.Sorted(maps.Keys(m.Arguments)) {
		glob := m.Arguments[name]
		if isPath(name) {
			glob = path.Clean(glob)
		}
		fmt.Fprintf(&b, " %q=%q", name, glob)
	}
	var commands []string
	for _, text := range m.Command {
		commands = append(commands, commandKey(text))
	}
	slices.Sort(commands)
	fmt.Fprintf(&b, " %q", slices.Compact(commands))
	return b.String()
}

// Equal reports whether two matches are about the same calls, as Key tells.
func (m Match) Equal(o Match) bool { return m.Key() == o.Key() }

// commandKey is the same for patterns that differ in blanks and quotes alone.
func commandKey(text string) string {
	p, err := ParseCommand(text)
	if err != nil {
		return "? " + text
	}
	return fmt.Sprintf("%q %t", p.words, p.rest)
}
