package main

import (
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agentco/agent/sdk"
)

// looked bounds how many names of a directory are compared with a missing one.
const looked = 10_000

// notFound is the error for a path that does not exist. It says which part of
// it is missing, and which name there is like it.
func (w *workspace) notFound(doing string, t target) error {
	above := ancestors(t.path)
	// What lies in a missing directory is missing too.
	level := sort.Search(len(above), func(i int) bool {
		_, err := w.files.Stat(above[i])
		return !missing(err)
	})
	if meant := w.meant(t, level > 0); meant != "" {
		return sdk.NotFound("cannot %s %s: it does not exist; did you mean %s?", doing, t.name, meant).With("suggestion", meant)
	}
	if why := literal(t.name); why != "" {
		return sdk.NotFound("cannot %s %s: it does not exist; %s", doing, t.name, why)
	}
	if level == len(above) {
		return sdk.NotFound("cannot %s %s: it does not exist", doing, t.name)
	}
	parent, name := above[level], filepath.Base(t.path)
	if level > 0 {
		name = filepath.Base(above[level-1])
	}
	if info, err := w.files.Stat(parent); err != nil || !info.IsDir() {
		return sdk.NotFound("cannot %s %s: it does not exist", doing, t.name)
	}
	shown := filepath.Dir(t.name)
	for range level {
		shown = filepath.Dir(shown)
	}
	gone := filepath.Join(shown, name)
	like := w.alike(parent, name)
	switch {
	case like != "":
		like = filepath.Join(shown, like)
		return sdk.NotFound("cannot %s %s: %s does not exist; did you mean %s?", doing, t.name, gone, like).With("suggestion", like)
	case gone == filepath.Clean(t.name):
		return sdk.NotFound("cannot %s %s: it does not exist; list %s to see what is there", doing, t.name, shown)
	}
	return sdk.NotFound("cannot %s %s: the directory %s does not exist; list %s to see what is there", doing, t.name, gone, shown)
}

// ancestors are the directories above a path, the nearest first.
func ancestors(path string) (above []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if above = append(above, dir); dir == filepath.Dir(dir) {
			return above
		}
	}
}

// alike returns the name in a directory that is most like a missing one, or "".
func (w *workspace) alike(dir, name string) string {
	f, err := w.files.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	names, _ := f.Readdirnames(looked)
	best, found := min((len(name)+2)/3, len(name)-1)+1, "" // not every letter may differ
	for _, other := range names {
		if other == name {
			return "" // it has come back
		}
		if !utf8.ValidString(other) {
			continue // no call can name it
		}
		if d := distance(plainName(name), plainName(other), best); d < best {
			best, found = d, other
		}
	}
	return found
}

// plainName is a name without what people do not see or often get wrong.
func plainName(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(norm.NFC.String(s)))
}

// distance is how many bytes are to be put in, taken out or exchanged to make b
// of a, or limit if it is no less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
