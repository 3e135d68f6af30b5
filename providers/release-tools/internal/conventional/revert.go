package conventional

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Commit is a commit as far as it matters here.
type Commit struct {
	Hash    string
	Parents []string
	Message string
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return strings.TrimSpace(subject)
}

// Changes returns what the commit announces. The body of a merge lists commits that are there themselves.
func (c Commit) Changes() []Change {
	changes := Parse(c.Message)
	if _, own := parseHeader(c.Subject()); len(c.Parents) > 1 && !own {
		changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Type != "" })
	}
	return changes
}

var (
	undone      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)\bThis reverts commit ([0-9a-f]{7,64})\b`) })
	refs        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?mi)^Refs:[ \t]*([0-9a-f, \t]{7,})$`) })
	hash        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{7,64}`) })
	quoted      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Revert "(.+)"(?:\s+\(#\d+\))?$`) })
	pullRequest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+\(#\d+\)$`) })
)

// Standing splits commits, the newest first, into those that count and those that cancel out: a revert and what it
// reverts. A revert of something older than all of them counts, and so does what a reverted revert had taken back.
func Standing(commits []Commit) (stand, cancelled []Commit) {
	gone := map[string]bool{}
	for i, c := range commits {
		if gone[c.Hash] {
			continue
		}
		hashes, all := reverts(c, commits[i+1:], gone)
		for _, hash := range hashes {
			gone[hash], gone[c.Hash] = true, all
		}
	}
	for _, c := range commits {
		if gone[c.Hash] {
			cancelled = append(cancelled, c)
		} else {
			stand = append(stand, c)
		}
	}
	return stand, cancelled
}

// Reverts reports whether a commit says that it takes back another one.
func Reverts(c Commit) bool {
	return quoted().MatchString(c.Subject()) || len(named(c)) > 0
}

// reverts returns the hashes, among the older commits, of what c takes back, and whether that is all that c does.
func reverts(c Commit, older []Commit, gone map[string]bool) (hashes []string, all bool) {
	names := named(c)
	all = true
	for _, name := range names {
		i := slices.IndexFunc(older, func(o Commit) bool { return strings.HasPrefix(o.Hash, name) })
		if i < 0 {
			all = false
			continue
		}
		hashes = append(append(hashes, older[i].Hash), merged(older[i], older)...)
	}
	m := quoted().FindStringSubmatch(c.Subject())
	if len(names) > 0 || m == nil {
		return hashes, all
	}
	// Forges that squash keep the subject alone.
	for _, o := range older {
		subject := o.Subject()
		if !gone[o.Hash] && strings.HasPrefix(subject, m[1]) && (subject == m[1] || pullRequest().ReplaceAllString(subject, "") == m[1]) {
			return []string{o.Hash}, true
		}
	}
	return nil, true
}

// named returns the hashes that a message says it reverts.
func named(c Commit) []string {
	var out []string
	if strings.Contains(c.Message, "This reverts commit") { // few do, and a search for that alone is cheap
		for _, m := range undone().FindAllStringSubmatch(c.Message, -1) {
			out = append(out, m[1])
		}
	}
	if change, ok := parseHeader(c.Subject()); ok && change.Type == "revert" {
		for _, m := range refs().FindAllStringSubmatch(c.Message, -1) {
			out = append(out, hash().FindAllString(m[1], -1)...)
		}
	}
	return out
}

// merged returns what a merge commit brought in: what its other parents reach and its first does not.
func merged(merge Commit, commits []Commit) []string {
	if len(merge.Parents) < 2 {
		return nil
	}
	kept, brought := reach(merge.Parents[:1], commits), reach(merge.Parents[1:], commits)
	var out []string
	for _, c := range commits {
		if brought[c.Hash] && !kept[c.Hash] {
			out = append(out, c.Hash)
		}
	}
	return out
}

// reach returns the hashes that tips lead to. Commits come before their parents.
func reach(tips []string, commits []Commit) map[string]bool {
	seen := map[string]bool{}
	for _, t := range tips {
		seen[t] = true
	}
	for _, c := range commits {
		if seen[c.Hash] {
			for _, p := range c.Parents {
				seen[p] = true
			}
		}
	}
	return seen
}
