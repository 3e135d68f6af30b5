package release

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/conventional"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Reason is something that asks for a version.
type Reason struct {
	Level  semver.Level
	Source string // "commit", "changelog" or "release"
	Commit string // its hash, if it is one
	Text   string
}

// Skipped is a commit that asks for none.
type Skipped struct {
	Commit, Subject, Why string
}

// weigh takes the reasons that ask for something, the weightiest first.
func (out *Suggestion) weigh(reasons []Reason) {
	out.Reasons = slices.DeleteFunc(reasons, func(r Reason) bool { return r.Level == semver.None })
	slices.SortStableFunc(out.Reasons, func(a, b Reason) int { return int(b.Level - a.Level) })
	if len(out.Reasons) > 0 {
		out.Level = out.Reasons[0].Level
	}
}

// commitReasons reads commits, the newest first.
func commitReasons(commits []conventional.Commit) ([]Reason, []Skipped) {
	var reasons []Reason
	var skipped []Skipped
	stand, cancelled := conventional.Standing(commits)
	for _, c := range stand {
		n := len(reasons)
		for _, change := range c.Changes() {
			if l := levelOf(change); l > semver.None {
				reasons = append(reasons, Reason{Level: l, Source: "commit", Commit: c.Hash, Text: headline(change)})
			}
		}
		if n == len(reasons) && conventional.Reverts(c) {
			reasons = append(reasons, Reason{Level: semver.Patch, Source: "commit", Commit: c.Hash, Text: c.Subject()})
		}
		if n == len(reasons) {
			skipped = append(skipped, Skipped{c.Hash, c.Subject(), whyNot(c)})
		}
	}
	for _, c := range cancelled {
		skipped = append(skipped, Skipped{c.Hash, c.Subject(), "reverted, or reverts what is not released"})
	}
	return reasons, skipped
}

func whyNot(c conventional.Commit) string {
	if changes := c.Changes(); len(changes) > 0 {
		return changes[0].Type + " asks for no version"
	}
	return "announces no change"
}

func levelOf(c conventional.Change) semver.Level {
	switch {
	case c.Breaking:
		return semver.Major
	case c.Type == "feat":
		return semver.Minor
	case c.Type == "fix", c.Type == "perf", c.Type == "revert":
		return semver.Patch
	}
	return semver.None
}

// headline is a change as the subject of a commit spells it.
func headline(c conventional.Change) string {
	if c.Type == "" {
		return "BREAKING CHANGE: " + c.Notes[0]
	}
	scope, mark := "", ""
	if c.Scope != "" {
		scope = "(" + c.Scope + ")"
	}
	if c.Breaking {
		mark = "!"
	}
	return c.Type + scope + mark + ": " + c.Text
}

// entryReasons reads the Unreleased section; a file without one has no reasons.
func entryReasons(doc *changelog.Document) ([]Reason, error) {
	if doc == nil {
		return nil, nil
	}
	u, err := doc.Unreleased()
	if none, ok := errors.AsType[*refusal.Error](err); ok && none.Kind == "no-unreleased-section" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var reasons []Reason
	for _, c := range doc.Categories(u) {
		for _, e := range c.Entries {
			text, _, _ := strings.Cut(e, "\n")
			if c.Name != "" {
				text = c.Name + ": " + text
			}
			reasons = append(reasons, Reason{Level: entryLevel(c.Name, e), Source: "changelog", Text: text})
		}
	}
	return reasons, nil
}

var (
	breakingEntry = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\*\*|__|\[|\()?(?i:breaking(?:[ -]changes?)?)(?::|\*\*|__|\]|\)|!)`)
	})
	breakingCategory = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bbreaking\b`) })
)

// entryLevel is what an entry asks for: what is removed or marked as breaking breaks; what is added, changed or deprecated
// is seen by users; all else repairs.
func entryLevel(category, entry string) semver.Level {
	switch {
	case breakingEntry().MatchString(entry), breakingCategory().MatchString(category), strings.EqualFold(category, "Removed"):
		return semver.Major
	case slices.ContainsFunc([]string{"Added", "Changed", "Deprecated"}, func(c string) bool { return strings.EqualFold(c, category) }):
		return semver.Minor
	}
	return semver.Patch
}
