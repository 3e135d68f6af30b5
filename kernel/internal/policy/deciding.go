package policy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"
)

// Guard are files and folders that decide what runs: by a configuration, a rule or a hook.
type Guard struct{ places func() []string }

// NewGuard guards absolute paths. Where links in them lead is looked up once, when it is first asked about.
func NewGuard(paths ...string) *Guard {
	return &Guard{places: sync.OnceValue(func() (places []string) {
		for _, path := range paths {
			places = append(places, Place{}.foldedWays(path)...)
		}
		return places
	})}
}

// DecidingFile is a value of the call that is the path of a file that decides what runs, or of a folder that one is in:
// agent.hcl, what is in .agent or in a .git, Place.Deciding. It is empty when there is none. An approval of what is beside
// them is none of a change of what may run.
func (c Call) DecidingFile() string {
	deciding := decidingValues(c)
	if len(deciding) == 0 {
		return ""
	}
	return deciding[0].text
}

// beyond is a path of what decides what runs that the rule which decides allows to be changed without naming it.
func (s *Set) beyond(winner int, c Call) string {
	if winner < 0 || s.rules[winner].Action != Allow || free(c) {
		return ""
	}
	for _, v := range decidingValues(c) {
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

// decidingValues are the paths of a call that lead to what decides what runs.
func decidingValues(c Call) []named {
	var deciding []named
	paths := c.decidingPaths()
	collectTexts(c.Arguments, "", func(v named) {
		key := lastOf(v.name)
		if key != "cwd" && key != "command" && c.reaches(paths, v.text, isPath(key)) {
			deciding = append(deciding, v)
		}
	})
	return deciding
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

// decidingPaths are where the files are that decide what runs, by their names and where links lead, folded.
func (p Place) decidingPaths() (paths []string) {
	for _, name := range []string{"agent.hcl", ".agent"} {
		paths = append(paths, p.foldedWays(filepath.Join(p.Root, name))...)
	}
	if p.Deciding != nil {
		paths = append(paths, p.Deciding.places()...)
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

// foldedWays are ways for a file system that may not tell upper case from lower case.
func (p Place) foldedWays(value string) []string {
	ways := p.ways(value)
	for i, way := range ways {
		ways[i] = fold(way)
	}
	return ways
}

// reaches reports whether a value is one of the paths or in it, or in a .git; what is said to be a path reaches them also
// from the folders above.
func (p Place) reaches(paths []string, value string, isPath bool) bool {
	if value == "" || !isPath && (len(value) > longestText || strings.ContainsAny(value, "\x00\n")) {
		return false
	}
	return slices.ContainsFunc(p.foldedWays(value), func(way string) bool {
		return p.inGit(way) || slices.ContainsFunc(paths, func(path string) bool { return inFolder(path, way) || isPath && inFolder(way, path) })
	})
}

// inGit reports whether a folded path is, or is in, what git keeps of a repository: by its configuration and its hooks
// whatever git does next runs anything. A root that is in one itself makes no difference.
func (p Place) inGit(way string) bool {
	if !strings.Contains(way, ".git") {
		return false
	}
	if root := fold(filepath.Clean(p.Root)); inFolder(root, way) {
		way = way[len(root):]
	}
	return slices.Contains(parts(way), ".git")
}

// inFolder reports whether a clean path is a folder or something in it.
func inFolder(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(folder[len(folder)-1]))
}
