package policy

import (
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/types/known/structpb"
)

// Glob is a pattern of text arguments, such as "docs/**".
type Glob struct {
	source, pattern string
	absolute        bool
}

// ParseGlob reads a pattern: * and ? stop at a slash, ** is any number of folders, [a-z] one character, {a,b} either.
// A backslash takes the meaning of what follows. A relative pattern begins at the folder of agent.hcl, and has no "..".
func ParseGlob(text string) (Glob, error) {
	g := Glob{source: text, pattern: path.Clean(text), absolute: filepath.IsAbs(filepath.FromSlash(text))}
	switch {
	case text == "":
		return g, errors.New("it is empty and would match nothing")
	case !doublestar.ValidatePattern(text):
		return g, errors.New("a bracket or brace in it is not closed, or has nothing in it")
	case slices.Contains(strings.Split(text, "/"), ".."):
		return g, errors.New(`it has ".." in it; write it from the folder of agent.hcl, or absolute as in "${path.home}/x"`)
	}
	return g, nil
}

// pathWords are the words by which arguments that are paths are known.
var pathWords = []string{
	"cwd", "destination", "dir", "directories", "directory", "dirs", "dst", "file", "filename", "files", "folder", "folders", "path",
	"paths", "root", "source", "src",
}

// isPath reports whether an argument is the path of a file, which its name has to tell.
func isPath(name string) bool {
	last := name[strings.LastIndexAny(name, "._-")+1:]
	return slices.Contains(pathWords, strings.ToLower(last))
}

// covers reports whether a value is for sure one of those that the glob shows.
func (g Glob) covers(name, value string, at Place) bool {
	if value == "" || strings.ContainsRune(value, 0) {
		return false
	}
	if !isPath(name) {
		return !dotted(value) && matches(within(g.source), value)
	}
	written, ok := at.relative(value)
	if g.absolute {
		written, ok = filepath.ToSlash(at.absolute(value)), true
	}
	ends := at.ends(value)
	return ok && g.holds(written) && len(ends) > 0 && !slices.ContainsFunc(ends, func(end string) bool { return !g.holdsEnd(end, at) })
}

// holdsEnd is holds for a path without links.
func (g Glob) holdsEnd(whole string, at Place) bool {
	rel, inside := at.fromRoot(whole)
	if g.absolute {
		return g.holds(filepath.ToSlash(whole)) || g.holds(at.unlinked(rel, inside))
	}
	return inside && g.holds(rel)
}

// holds reports whether a path is in the glob.
func (g Glob) holds(path string) bool { return path != "" && matches(within(g.pattern), path) }

// within is a pattern for which a folder is not in itself.
func within(pattern string) string {
	if folder, all := strings.CutSuffix(pattern, "/**"); all {
		return folder + "/**/*"
	}
	return pattern
}

// mayCover reports whether a value can turn out to be one of those that the glob shows: behind a link, on a file system
// that does not tell upper case from lower case, or as a path although its name does not say so.
func (g Glob) mayCover(name, value string, at Place) bool {
	rel, inside := at.relative(value)
	ways := g.ways(rel, filepath.ToSlash(at.absolute(value)), inside)
	for _, end := range at.ends(value) {
		rel, inside := at.fromRoot(end)
		ways = append(ways, g.ways(rel, filepath.ToSlash(end), inside)...)
		ways = append(ways, at.unlinked(rel, inside))
	}
	if slices.ContainsFunc(ways, func(way string) bool { return matches(fold(g.pattern), fold(way)) }) {
		return true
	}
	return !isPath(name) && (matches(fold(g.source), fold(value)) || matches(fold(g.pattern), fold(path.Clean(value))))
}

// ways are how the glob may write a path.
func (g Glob) ways(rel, whole string, inside bool) []string {
	switch {
	case inside:
		return []string{whole, rel}
	case strings.HasPrefix(g.pattern, "**"):
		return []string{whole, strings.TrimPrefix(whole, "/")}
	default:
		return []string{whole}
	}
}

func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// dotted reports whether a text would be another one if it were a path.
func dotted(value string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '\\' }), func(part string) bool { return part == "." || part == ".." })
}

func matches(pattern, text string) bool { return doublestar.MatchUnvalidated(pattern, text) }

// absolute is a path as the working directory has it, without . and .. in it, and as it is written: no link is followed.
func (p Place) absolute(value string) string {
	if !filepath.IsAbs(value) {
		value = filepath.Join(p.Dir, value)
	}
	return filepath.Clean(value)
}

// relative is a path as seen from the root, if it is there or below.
func (p Place) relative(value string) (rel string, inside bool) {
	rel, err := filepath.Rel(filepath.Clean(p.Root), p.absolute(value))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// valuesOf are the values of an argument, the elements of a list one by one. The members of objects are reached by
// dots, as in "files.path". whole is false when one of them is missing or no text.
func valuesOf(args *structpb.Struct, name string) (values []string, whole bool) {
	whole = true
	v, ok := args.GetFields()[name]
	if !ok {
		first, rest, nested := strings.Cut(name, ".")
		v, ok = args.GetFields()[first]
		if !nested || !ok {
			return nil, false
		}
		for _, one := range elements(v) {
			inner, all := valuesOf(one.GetStructValue(), rest)
			values, whole = append(values, inner...), whole && all
		}
		return values, whole && len(values) > 0
	}
	for _, one := range elements(v) {
		text, ok := one.GetKind().(*structpb.Value_StringValue)
		if !ok {
			whole = false
			continue
		}
		values = append(values, text.StringValue)
	}
	return values, whole && len(values) > 0
}

func elements(v *structpb.Value) []*structpb.Value {
	if list := v.GetListValue(); list != nil {
		return list.GetValues()
	}
	return []*structpb.Value{v}
}

// means reports whether a member may be what a name is about.
func means(key, name string) bool {
	return key == name || key == name+"s" || name == "path" && isPath(key)
}

func lastOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// anywhere are the values of all members that a name may mean, however deep: lists of what it names, and for "path"
// every path there is, since what is denied to be read is not to be copied either.
func anywhere(v *structpb.Value, name string) []string {
	var values []string
	for _, one := range elements(v) {
		members := one.GetStructValue()
		for _, key := range slices.Sorted(maps.Keys(members.GetFields())) {
			if means(key, name) {
				found, _ := valuesOf(members, key)
				values = append(values, found...)
			}
			values = append(values, anywhere(members.GetFields()[key], name)...)
		}
	}
	return values
}
