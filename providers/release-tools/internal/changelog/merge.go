package changelog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Entry is an entry for a category.
type Entry struct {
	Category string
	Text     string
	Commit   string // the hash it comes from, "" if none
}

// Merge adds to the Unreleased section those entries that nobody wrote down yet, below what is there. A file that has no
// categories gets none. It returns the file as it was read back, and the entries that are new in it. An entry is written
// down if the section has the same words, whatever the marks, or names the commit or the same issue.
func (d *Document) Merge(entries []Entry) (after *Document, added []Entry, err error) {
	u, err := d.Unreleased()
	if err != nil {
		return nil, nil, err
	}
	there := readWritten(d.Categories(u))
	flat := d.uncategorised()
	byCategory := map[string][]string{}
	type said struct{ category, words string }
	seen := map[said]bool{}
	for _, e := range entries {
		key := said{e.Category, words(e.Text)}
		if seen[key] || there.says(e) {
			continue
		}
		seen[key] = true
		if flat {
			e.Category = ""
		}
		added = append(added, e)
		byCategory[e.Category] = append(byCategory[e.Category], e.Text)
	}
	var groups []Category
	for _, name := range append([]string{""}, Standard...) {
		groups = append(groups, Category{Name: name, Entries: byCategory[name]})
	}
	after, err = d.add(groups...)
	return after, added, err
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
	lead     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\*\*Breaking:\*\* )?(?:[\w/.-]+: )?`) })
)

// written is what entries say that are there.
type written struct {
	text                string // of all of them
	words, bare, issues map[string]bool
}

func readWritten(categories []Category) written {
	w := written{words: map[string]bool{}, bare: map[string]bool{}, issues: map[string]bool{}}
	var text strings.Builder
	for _, c := range categories {
		for _, e := range c.Entries {
			text.WriteString(e + "\n")
			w.words[words(e)], w.bare[bare(e)] = true, true
			for _, n := range issue().FindAllString(e, -1) {
				w.issues[n] = true
			}
		}
	}
	w.text = text.String()
	return w
}

// says reports whether an entry that is there says what e says.
func (w written) says(e Entry) bool {
	if e.Commit != "" && strings.Contains(w.text, e.Commit[:7]) {
		return true
	}
	mentioned := func(n string) bool { return w.issues[n] }
	return slices.ContainsFunc(issue().FindAllString(e.Text, -1), mentioned) || w.words[words(e.Text)] || w.bare[bare(e.Text)]
}

// bare folds an entry without what leads it in.
func bare(entry string) string { return words(lead().ReplaceAllString(entry, "")) }

// words folds an entry to its letters and digits, without the numbers of issues.
func words(entry string) string {
	if strings.Contains(entry, "](") {
		entry = linkedTo().ReplaceAllString(entry, "]")
	}
	if strings.Contains(entry, "#") {
		entry = issue().ReplaceAllString(entry, "")
	}
	mark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	return strings.ToLower(strings.Join(strings.FieldsFunc(entry, mark), " "))
}
