// Package environ makes the environment of a command: what is allowed of the
// provider's, hints that nobody is there to answer, and what the configuration sets.
package environ

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// hints keep programs from waiting for a person or drawing for one.
var hints = map[string]string{
	"DEBIAN_FRONTEND":     "noninteractive",
	"EDITOR":              "true",
	"GIT_EDITOR":          "true",
	"GIT_PAGER":           "cat",
	"GIT_TERMINAL_PROMPT": "0",
	"NO_COLOR":            "1",
	"PAGER":               "cat",
	"TERM":                "dumb",
}

// defaultPath is for a provider that was started without any PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// CheckPattern returns an error if pattern cannot be matched against names.
func CheckPattern(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return fmt.Errorf("%q is neither a name nor a pattern such as LC_*", pattern)
	}
	return nil
}

// CheckVariable returns an error, without the value, if a variable cannot be passed on.
func CheckVariable(name, value string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
		return fmt.Errorf("the variable %q cannot be passed on: names have no = and nothing has a NUL byte", name)
	}
	return nil
}

// Build returns the environment as NAME=value, sorted. own is the provider's, of which
// the names that match a pattern in allow are taken; set wins over everything but dir,
// which is where the command starts, as it was asked for.
func Build(own, allow []string, set map[string]string, dir string) []string {
	vars := map[string]string{"PATH": defaultPath}
	for _, entry := range own {
		if name, value, ok := strings.Cut(entry, "="); ok && matches(allow, name) {
			vars[name] = value
		}
	}
	maps.Copy(vars, hints)
	maps.Copy(vars, set)
	vars["PWD"] = dir
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}
