package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/go-version"

	"github.com/agentco/agent/kernel/internal/config"
)

// candidate is a release whose version will do.
type candidate struct {
	version *version.Version
	published
}

// maxSkips is how many incomplete releases are told of one by one.
const maxSkips = 3

// newest is the first complete candidate.
func (c *Client) newest(ctx context.Context, q Query, s supplier, all listing) (*Release, error) {
	candidates, marked := choose(q.Constraint, all)
	var warnings []string
	if all.capped > 0 {
		warnings = append(warnings, fmt.Sprintf("%s has more than %d releases; older ones were not looked at", all.from, all.capped))
	}
	if len(candidates) == 0 {
		return nil, noMatch(q.Source, "there is no release"+allowedBy(q.Constraint), all)
	}
	var first *Error
	for i, one := range candidates {
		r, missing, err := c.complete(ctx, q, s, one.version.String(), one.published)
		if err != nil {
			return nil, err
		}
		if missing == nil {
			r.Reason = reasonFor(q.Constraint, len(candidates))
			if len(marked) > 0 && marked[0].version.GreaterThan(one.version) {
				warnings = append(warnings, fmt.Sprintf("%s is marked as a pre-release on %s: only version = \"= %s\" takes it", marked[0].tag, all.from, marked[0].version))
			}
			r.Warnings = warnings
			return r, nil
		}
		if first == nil {
			first = missing
		}
		switch {
		case i < maxSkips:
			warnings = append(warnings, fmt.Sprintf("%s %s is passed over: %s", q.Source, one.version, missing.Reason))
		case i == maxSkips:
			warnings = append(warnings, fmt.Sprintf("older incomplete releases of %s are passed over, too", q.Source))
		}
	}
	if len(candidates) > 1 {
		first.Advice = joined(first.Advice, fmt.Sprintf("None of the %d releases that would do is complete", len(candidates)))
	}
	return nil, first
}

// choose sorts out drafts, tags that name no version, and versions that will not do. Releases that are only marked as
// pre-releases are told apart. The newest comes first.
func choose(constraint config.Constraint, all listing) (candidates, marked []candidate) {
	for _, p := range all.releases {
		v, ok := parseTag(p.tag)
		switch {
		case !ok || p.draft || !constraint.Allows(v):
		case p.prerelease && v.Prerelease() == "":
			marked = append(marked, candidate{v, p})
		default:
			candidates = append(candidates, candidate{v, p})
		}
	}
	newestFirst := func(a, b candidate) int { return b.version.Compare(a.version) }
	slices.SortStableFunc(candidates, newestFirst)
	slices.SortStableFunc(marked, newestFirst)
	return candidates, marked
}

func reasonFor(c config.Constraint, candidates int) string {
	reason := fmt.Sprintf("the newest of %d", candidates)
	if candidates == 1 {
		reason = "the only one"
	}
	if c.String() == "" {
		return reason
	}
	return reason + allowedBy(c)
}

func allowedBy(c config.Constraint) string {
	if c.String() == "" {
		return " but pre-releases"
	}
	return fmt.Sprintf(" that %q allows", c)
}

// noMatch says what there is when nothing of it will do.
func noMatch(s config.Source, reason string, all listing) *Error {
	e := &Error{Code: NoMatchingVersion, Attempted: "choose a version of " + s.String(), On: all.from, Reason: reason}
	var versions []*version.Version
	var others []string
	for _, p := range all.releases {
		switch v, ok := parseTag(p.tag); {
		case p.draft:
		case ok:
			versions = append(versions, v)
		default:
			others = append(others, fmt.Sprintf("%.40q", p.tag))
		}
	}
	slices.SortFunc(versions, func(a, b *version.Version) int { return b.Compare(a) })
	names := make([]string, len(versions))
	prereleases := false
	for i, v := range versions {
		names[i] = v.String()
		prereleases = prereleases || v.Prerelease() != ""
	}
	switch {
	case len(names) > 0:
		e.Advice = "Its versions are " + shortList(names)
	case len(others) > 0:
		e.Advice = "Its releases have tags that name no version (vMAJOR.MINOR.PATCH): " + shortList(others)
	case all.from != "":
		e.Advice = "It has no releases"
	}
	if all.capped > 0 {
		e.Advice += fmt.Sprintf("; only the newest %d releases were read", all.capped)
	}
	if prereleases {
		e.Advice += ". A pre-release counts only when the constraint names one of the same version"
	}
	return e
}
