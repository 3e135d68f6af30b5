package changelog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Entry is an entry for a category.
type Entry struct {
	Category string
	Text     string
	Commit   string // the hash it comes from, "" if none
}

// Merge adds to the Unreleased section those entries that nobody wrote down yet, below what is there. A file that has no
// categories gets none. It returns the file as it was read back, and the entries that are new in it. An entry is written down if the section has the same words, whatever the marks, or
// names the commit or the same issue.
func (d *Document) Merge(entries []Entry) (after *Document, added []Entry, err error) {
	u, err := d.Unreleased()
	if err != nil {
		return nil, nil, err
	}
	var have []string
	for _, c := range d.Categories(u) {
		have = append(have, c.Entries...)
	}
	flat := d.uncategorised()
	byCategory := map[string][]string{}
	type said struct{ category, words string }
	seen := map[said]bool{}
	for _, e := range entries {
		key := said{e.Category, words(e.Text)}
		if seen[key] || slices.ContainsFunc(have, e.covered) {
			continue
		}
		seen[key] = true
		if flat {
			e.Category = ""
		}
		added = append(added, e)
		byCategory[e.Category] = append(byCategory[e.Category], e.Text)
	}
	for _, category := range append([]string{""}, Standard...) {
		if d, err = d.add(category, byCategory[category]); err != nil {
			return nil, nil, err
		}
	}
	return d, added, nil
}

// Takes reports whether a text says something as an entry: it has words, and Add would not refuse it for what it holds.
func Takes(text string) bool {
	_, err := cleanEntry(text)
	return err == nil && words(text) != ""
}

// uncategorised reports whether the file has entries and sorts none of them, so that new ones are not sorted either.
func (d *Document) uncategorised() bool {
	entries := false
	for _, s := range d.Sections {
		for _, c := range d.Categories(s) {
			if c.Name != "" {
				return false
			}
			entries = entries || len(c.Entries) > 0
		}
	}
	return entries
}

var (
	issue    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#\d+\b`) })
	linkedTo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\([^)]*\)`) })
	marks    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\pL\pN]+`) })
	lead     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\*\*Breaking:\*\* )?(?:[\w/.-]+: )?`) })
)

// covered reports whether an entry that is there says what e says.
func (e Entry) covered(there string) bool {
	if e.Commit != "" && strings.Contains(there, e.Commit[:7]) {
		return true
	}
	own := issue().FindAllString(e.Text, -1)
	for _, n := range issue().FindAllString(there, -1) {
		if slices.Contains(own, n) {
			return true
		}
	}
	return words(there) == words(e.Text) || words(lead().ReplaceAllString(there, "")) == words(lead().ReplaceAllString(e.Text, ""))
}

// words folds an entry to its letters and digits, without the numbers of issues.
func words(entry string) string {
	entry = issue().ReplaceAllString(linkedTo().ReplaceAllString(entry, "]"), "")
	return strings.ToLower(strings.TrimSpace(marks().ReplaceAllString(entry, " ")))
}
