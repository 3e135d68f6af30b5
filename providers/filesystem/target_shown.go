package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// shown is the name for whoever has to approve: without what it does not need,
// or with where it leads when that is elsewhere.
func (t target) shown() string {
	clean := filepath.Clean(t.name)
	if filepath.Clean(t.path) == t.resolved || t.isBelow(clean) {
		return oneLine(clean)
	}
	return oneLine(t.name) + " (which is " + oneLine(t.resolved) + ")"
}

// oneLine quotes a name that could be taken for something else than a name: a line end in it begins a line.
func oneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// isBelow reports whether the links on the way to a name are all on the way to
// the directory of the call.
func (t target) isBelow(name string) bool {
	above, below := strings.CutSuffix(t.resolved, string(filepath.Separator)+name)
	if name == "." {
		above, below = t.resolved, true
	}
	if !below || !filepath.IsLocal(name) {
		return false
	}
	found, err := os.Stat(above)
	if err != nil {
		return false
	}
	wanted, err := os.Stat(t.dir)
	return err == nil && os.SameFile(found, wanted)
}
