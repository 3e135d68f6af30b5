package policy

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// OwnFile is a value of the call that is the path of what says what may be done, or of a folder that it is in: agent.hcl,
// what is in .agent, Place.Own. It is empty when there is none. An approval of what is beside them is none of a change of
// the rules.
func (c Call) OwnFile() string {
	own := ownValues(c)
	if len(own) == 0 {
		return ""
	}
	return own[0].text
}

// beyond is a path of agent's own that the rule which decides allows to be changed without naming it.
func (s *Set) beyond(winner int, c Call) string {
	if winner < 0 || s.rules[winner].Action != Allow || free(c) {
		return ""
	}
	for _, v := range ownValues(c) {
		if g, ok := s.rules[winner].arguments[v.name]; !ok || !g.namesOne() {
			return v.text
		}
	}
	return ""
}

// namesOne reports whether the glob says which file it is about, in whatever folder.
func (g Glob) namesOne() bool {
	return !strings.ContainsAny(g.pattern[strings.LastIndexByte(g.pattern, '/')+1:], `*?[]{}\`)
}

// named is a text among arguments, and what it is called; the members of objects by dots.
type named struct{ name, text string }

// ownValues are the paths of a call that are agent's own.
func ownValues(c Call) []named {
	var own []named
	paths := c.ownPaths()
	collectTexts(c.Arguments, "", func(v named) {
		key := v.name[strings.LastIndexByte(v.name, '.')+1:]
		if key != "cwd" && key != "command" && c.reaches(paths, v.text, isPath(key)) {
			own = append(own, v)
		}
	})
	return own
}

// collectTexts finds all texts, whatever they are called: what is no path by its name may be one.
func collectTexts(s *structpb.Struct, prefix string, found func(named)) {
	for _, key := range slices.Sorted(maps.Keys(s.GetFields())) {
		collectText(s.GetFields()[key], prefix+key, found)
	}
}

func collectText(v *structpb.Value, name string, found func(named)) {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		found(named{name, kind.StringValue})
	case *structpb.Value_StructValue:
		collectTexts(kind.StructValue, name+".", found)
	case *structpb.Value_ListValue:
		for _, one := range kind.ListValue.GetValues() {
			collectText(one, name, found)
		}
	}
}

// longestText is what nobody means as a path any more, unless it is called one.
const longestText = 4096

// ownPaths are where agent's own files are, by their names and where links lead.
func (p Place) ownPaths() (paths []string) {
	for _, file := range append([]string{filepath.Join(p.Root, "agent.hcl"), filepath.Join(p.Root, ".agent")}, p.Own...) {
		paths = append(paths, p.ways(file)...)
	}
	return paths
}

// ways are a path as it is written and where it leads.
func (p Place) ways(value string) []string {
	ways := []string{p.absolute(value)}
	if real, ok := p.followed(value); ok && real != ways[0] {
		ways = append(ways, real)
	}
	return ways
}

// reaches reports whether a value is one of the paths or in it; what is said to be a path reaches them also from the
// folders above.
func (p Place) reaches(paths []string, value string, isPath bool) bool {
	if value == "" || !isPath && (len(value) > longestText || strings.ContainsAny(value, "\x00\n")) {
		return false
	}
	return slices.ContainsFunc(p.ways(value), func(way string) bool {
		return slices.ContainsFunc(paths, func(own string) bool { return inFolder(own, way) || isPath && inFolder(way, own) })
	})
}

// inFolder reports whether a path is the folder or something in it, on a file system that may not tell upper case from
// lower case.
func inFolder(folder, path string) bool {
	rel, err := filepath.Rel(fold(folder), fold(path))
	return err == nil && filepath.IsLocal(rel)
}
