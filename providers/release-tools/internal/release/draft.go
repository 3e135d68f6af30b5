package release

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/conventional"
)

// Drafted is the changelog as it would be with an entry for each change that the commits announce.
type Drafted struct {
	Path     string // of the changelog, from the root
	Notes    string // the Unreleased section to be
	Added    []changelog.Entry
	Skipped  []Skipped
	Diff     string
	Warnings []string
}

// Draft proposes entries for the commits since a release, the last one if since is "". It writes nothing.
func Draft(ctx context.Context, s Settings, dir, since string, now time.Time) (*Drafted, error) {
	r, err := s.open(ctx, dir, now)
	if err != nil {
		return nil, err
	}
	found, err := look(ctx, r, s)
	if err != nil {
		return nil, err
	}
	base, released, err := found.base(since)
	if err != nil {
		return nil, err
	}
	commits, warnings, err := found.since(ctx, base, released)
	if err != nil {
		return nil, err
	}
	entries, skipped := propose(commits)
	after, added, err := found.doc.Merge(entries)
	if err != nil {
		return nil, err
	}
	u, err := after.Unreleased()
	if err != nil {
		return nil, err
	}
	return &Drafted{
		Path: found.file.Path, Notes: after.Text(u), Added: added, Skipped: skipped,
		Diff: Unified(found.file.Path, found.file.Content, after.Bytes()), Warnings: warnings,
	}, nil
}

// base is the release that since names, by version or tag, or the last one.
func (s survey) base(since string) (past, bool, error) {
	if since == "" {
		last, found := latest(s.known, func(past) bool { return true })
		return last, found, nil
	}
	for _, r := range s.known {
		if r.tag == since || r.version.String() == strings.TrimPrefix(since, "v") {
			return r, true, nil
		}
	}
	_, err := s.doc.Find(strings.TrimPrefix(since, s.settings.TagPrefix)) // it names the nearest
	return past{}, false, err
}

// propose writes an entry for each change of the commits, which are given the newest first, the oldest first.
func propose(commits []conventional.Commit) ([]changelog.Entry, []Skipped) {
	var entries []changelog.Entry
	var skipped []Skipped
	stand, cancelled := conventional.Standing(commits)
	for _, c := range cancelled {
		skipped = append(skipped, Skipped{c.Hash, c.Subject(), "reverted, or reverts what is not released"})
	}
	for i := len(stand) - 1; i >= 0; i-- {
		c := stand[i]
		n := len(entries)
		for _, change := range c.Changes() {
			if category := categoryOf(change); category != "" && changelog.Takes(sentence(change)) {
				entries = append(entries, changelog.Entry{Category: category, Text: sentence(change), Commit: c.Hash})
			}
		}
		if n == len(entries) && conventional.Reverts(c) && changelog.Takes(c.Subject()) {
			entries = append(entries, changelog.Entry{Category: "Changed", Text: c.Subject(), Commit: c.Hash})
		}
		if n == len(entries) {
			skipped = append(skipped, Skipped{c.Hash, c.Subject(), whyNot(c)})
		}
	}
	return entries, skipped
}

func categoryOf(c conventional.Change) string {
	switch {
	case c.Breaking, c.Type == "perf", c.Type == "revert":
		return "Changed"
	case c.Type == "feat":
		return "Added"
	case c.Type == "fix" && strings.EqualFold(c.Scope, "security"):
		return "Security"
	case c.Type == "fix":
		return "Fixed"
	}
	return ""
}

// sentence is a change as an entry.
func sentence(c conventional.Change) string {
	text := c.Text
	if c.Scope != "" {
		text = c.Scope + ": " + text
	} else if first, size := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if c.Breaking {
		text = "**Breaking:** " + text
		for _, note := range c.Notes {
			text += ". " + note
		}
	}
	return printable(text)
}

// printable leaves out what no changelog should hold.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text))
}
