package release

import (
	"context"
	"fmt"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Suggestion is the version that the next release should have, and why.
type Suggestion struct {
	Version  semver.Version
	Previous string // the last final release, "" if there is none
	Level    semver.Level
	Reasons  []Reason // the weightiest first
	Skipped  []Skipped
	Warnings []string
}

// Next works out the version of the next release from the Unreleased section and the commits since the last final
// release. pre is the label of a pre-release, "" for a final one.
//
// Below 1.0.0 a breaking change raises the minor number, as nothing is promised yet; 1.0.0 itself is a decision, and never
// suggested.
func Next(ctx context.Context, s Settings, dir, pre string, now time.Time) (*Suggestion, error) {
	if pre != "" {
		if _, err := (semver.Version{}).Pre(pre, nil); err != nil {
			return nil, refusal.Argument("pre", "invalid-label", "%q cannot label a pre-release: %w", pre, err)
		}
	}
	r, err := s.open(ctx, dir, now)
	if err != nil {
		return nil, err
	}
	found, err := lookLeniently(ctx, r, s)
	if err != nil {
		return nil, err
	}
	return found.next(ctx, pre)
}

func (s survey) next(ctx context.Context, pre string) (*Suggestion, error) {
	base, released := latest(s.known, func(r past) bool { return !r.version.Prerelease() })
	commits, warnings, err := s.since(ctx, base, released)
	if err != nil {
		return nil, err
	}
	out := &Suggestion{Warnings: warnings}
	entries, err := entryReasons(s.doc)
	if err != nil {
		return nil, err
	}
	var announced []Reason
	announced, out.Skipped = commitReasons(commits)
	out.weigh(append(entries, announced...))
	switch {
	case released:
		out.Previous = base.version.String()
		err = out.raise(base.version, s.known)
	default:
		out.first()
	}
	if err == nil && pre != "" {
		err = out.label(pre, s.known)
	}
	if err == nil {
		err = s.above(out.Version)
	}
	return out, err
}

// first is the version of a project that has none.
func (out *Suggestion) first() {
	out.Version, _ = semver.Parse("0.1.0")
	out.Level = semver.Minor
	out.Reasons = append([]Reason{{Level: semver.Minor, Source: "release", Text: "this is the first release"}}, out.Reasons...)
}

// raise goes from the last final version as far as the reasons ask for. A pre-release that is out asks for its own version
// at least.
func (out *Suggestion) raise(base semver.Version, known []past) error {
	if base.Initial() && out.Level == semver.Major {
		out.Level = semver.Minor
		out.Warnings = append(out.Warnings, "below 1.0.0 a breaking change raises the minor number; give 1.0.0 to leave that time behind")
	}
	out.Version = base.Raise(out.Level)
	highest, _ := latest(known, func(past) bool { return true })
	if final := highest.version.Final(); semver.Less(out.Version, final) {
		out.Version = final
		out.Reasons = append(out.Reasons, Reason{Level: out.Level, Source: "release", Text: highest.version.String() + " is out"})
		return nil
	}
	if out.Level == semver.None {
		return refusal.New("nothing-to-release", "nothing since %s calls for a release: no entry is unreleased, and of %d other commits none adds, fixes or breaks anything",
			base, len(out.Skipped))
	}
	return nil
}

func (out *Suggestion) label(pre string, known []past) error {
	versions := make([]semver.Version, len(known))
	for i, r := range known {
		versions[i] = r.version
	}
	v, err := out.Version.Pre(pre, versions)
	if err != nil {
		return refusal.Argument("pre", "invalid-label", "%q cannot label a pre-release: %w", pre, err)
	}
	out.Version = v
	return nil
}

// above refuses a pre-release that would sort below one that is out.
func (s survey) above(v semver.Version) error {
	highest, found := latest(s.known, func(past) bool { return true })
	if !found || semver.Less(highest.version, v) {
		return nil
	}
	return refusal.New("not-newer", "%s would not be newer than %s (%s): choose a label that sorts above it, or none",
		v, highest.version, highest.where(s.settings.Changelog))
}

// String says what a suggestion comes to.
func (out *Suggestion) String() string {
	if out.Previous == "" {
		return fmt.Sprintf("%s, the first release", out.Version)
	}
	return fmt.Sprintf("%s after %s", out.Version, out.Previous)
}
