package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Fence is where the paths of a call have to be, whatever the rules say. It allows nothing: what is within is decided
// about as it would be without it.
//
// It goes by the paths that a call names, where links lead. What a command does that a shell is given, no path tells.
type Fence struct {
	// Name is what the folders are, such as "the roots of the client".
	Name string
	// Folders are absolute. When there are none, nothing is within.
	Folders []string
	// Closed says why there are none, as in "it named none"; it may be empty.
	Closed string
	// Remedy is what would let a call through, such as "add the folder to the roots of your client".
	Remedy string
}

// Stops says why a call is not within, or nothing. input is the schema of its arguments. A call that names no path is
// about the working directory, and so is one that leaves out the folder it may name.
func (f *Fence) Stops(c Call, input *schemav1.Schema) string {
	if f == nil {
		return ""
	}
	if len(f.Folders) == 0 {
		return fmt.Sprintf("nothing is within %s%s: %s", f.Name, joined(", as ", f.Closed), f.Remedy)
	}
	var folders []string
	for _, folder := range f.Folders {
		if real, ok := c.followed(folder); ok {
			folders = append(folders, real)
		}
	}
	for _, value := range c.reached(input) {
		for _, end := range f.ends(c.Place, value) {
			if end == "" || !belowAny(folders, end) {
				return fmt.Sprintf("%s outside %s (%s): %s", c.told(value, end), f.Name, shownFolders(f.Folders), f.Remedy) + f.instead(value, c.Arguments, input)
			}
		}
	}
	return ""
}

// ends are those of a path. The folders themselves are not meant as links. Empty is the end of links that lead round in a
// circle.
func (f *Fence) ends(p Place, value string) []string {
	ends := p.ends(value)
	if len(ends) == 0 {
		return []string{""}
	}
	written := p.absolute(value)
	if slices.ContainsFunc(f.Folders, func(folder string) bool { return filepath.Clean(folder) == written }) {
		return ends[:1]
	}
	return ends
}

// instead says how a call that left out the folder it works in gets one within.
func (f *Fence) instead(value string, args *structpb.Struct, input *schemav1.Schema) string {
	if value != "" {
		return ""
	}
	if name := leftOut(input, args); name != "" {
		return fmt.Sprintf(", or give %s=%q", name, f.Folders[0])
	}
	return ""
}

func joined(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// told is the beginning of a sentence about a path that is somewhere.
func (p Place) told(value, real string) string {
	written := p.absolute(value)
	switch {
	case value == "" || written == filepath.Clean(p.Dir):
		return fmt.Sprintf("it is about the working directory, %s, which is", clip(p.Dir))
	case real != "" && real != written:
		return fmt.Sprintf("%s leads to %s, which is", clip(value), clip(real))
	default:
		return clip(written) + " is"
	}
}

// mostShown is how many folders a message lists.
const mostShown = 5

func shownFolders(folders []string) string {
	shown := folders
	if len(folders) > mostShown {
		shown = append(slices.Clone(folders[:mostShown]), fmt.Sprintf("%d more", len(folders)-mostShown))
	}
	return strings.Join(shown, ", ")
}

// belowAny is isBelow for one of several. The names are compared first, for which the system is not asked.
func belowAny(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return isNamedBelow(folder, path) }) ||
		slices.ContainsFunc(folders, func(folder string) bool { return isBelow(folder, path) })
}

func isNamedBelow(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// isBelow reports whether a path is a folder or something in it; there are no links on the way to either. On a file system
// that does not tell upper case from lower case the same folder can have two names.
func isBelow(folder, path string) bool {
	if isNamedBelow(folder, path) {
		return true
	}
	wanted, err := os.Stat(folder)
	if err != nil {
		return false
	}
	for {
		if found, err := os.Lstat(path); err == nil && os.SameFile(wanted, found) {
			return true
		}
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
}

// reached are the paths that a call is about; the working directory is empty.
func (c Call) reached(input *schemav1.Schema) (paths []string) {
	var patterns []string
	collectTexts(c.Arguments, "", func(v named) {
		key := lastOf(v.name)
		switch {
		case len(input.GetProperties()[v.name].GetEnumValues()) > 0: // is a word, whatever it is called
		case meansPath(key):
			paths = append(paths, v.text)
		case isPattern(key) && !isRegular(key, input):
			patterns = append(patterns, v.text)
		}
	})
	if len(paths) == 0 || leftOut(input, c.Arguments) != "" {
		paths = append(paths, "")
	}
	for _, pattern := range patterns {
		paths = append(paths, c.begins(pattern, paths)...)
	}
	return paths
}

// meansPath is isPath, also for names like outputDir.
func meansPath(name string) bool {
	hump := strings.LastIndexFunc(name, unicode.IsUpper)
	return isPath(name) || hump > 0 && isPath(name[hump:])
}

// workFolders are names of the folder that a call works in. One that is left out is the working directory.
var workFolders = []string{"cwd", "dir", "directory", "folder", "path", "root"}

// leftOut is the one of them that a call could have and does not; empty when there is none.
func leftOut(input *schemav1.Schema, args *structpb.Struct) string {
	for _, name := range workFolders {
		_, has := input.GetProperties()[name]
		if _, given := args.GetFields()[name]; has && !given {
			return name
		}
	}
	return ""
}

// patternWords are what arguments are called that may be patterns of paths, which can begin at another folder.
var patternWords = []string{"exclude", "glob", "globs", "include", "pattern", "patterns"}

func isPattern(name string) bool {
	last := name[strings.LastIndexAny(name, "._-")+1:]
	return slices.Contains(patternWords, strings.ToLower(last))
}

// isRegular reports whether a pattern is a regular expression: where files are chosen by a glob, it is their text that is
// looked for by a pattern.
func isRegular(name string, input *schemav1.Schema) bool {
	return strings.EqualFold(name, "pattern") && input.GetProperties()["glob"].GetType() == schemav1.SchemaType_SCHEMA_TYPE_STRING
}

// begins is where a pattern begins in the folders that it is looked for in, if there is something: it may be a regular
// expression as well, which only looks like a path.
func (p Place) begins(pattern string, folders []string) (paths []string) {
	pattern = strings.TrimPrefix(pattern, "!")
	if strings.ContainsRune(pattern, 0) {
		return nil
	}
	if filepath.IsAbs(pattern) {
		folders = []string{""}
	}
	for _, folder := range folders {
		if at := p.beginning(folder, pattern); at != "" {
			paths = append(paths, at)
		}
	}
	return paths
}

// beginning is the part of a pattern that has no wildcards, in a folder; empty when it is not there. A folder can be called
// like a wildcard, as in routes/[id], and then it is one.
func (p Place) beginning(folder, pattern string) string {
	base := ""
	for i, part := range strings.Split(pattern, "/") {
		next := part
		if i > 0 {
			next = base + "/" + part
		}
		if len(next) > longestText || strings.ContainsAny(part, `*?[{\`) && !p.there(folder, next) {
			break
		}
		base = next
	}
	switch {
	case base == "" && strings.HasPrefix(pattern, "/"):
		return "/"
	case base == "" || !p.there(folder, base):
		return ""
	}
	return under(folder, base)
}

// under is a name in a folder; Join would take ".." for the way back.
func under(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + string(filepath.Separator) + name
}

func (p Place) there(folder, name string) bool {
	real, ok := p.followed(under(folder, name))
	return ok && exists(real)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
