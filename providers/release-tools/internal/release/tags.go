package release

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/repo"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// Made is a release that has a tag.
type Made struct {
	repo.Tagged
	Version semver.Version
}

// Tags lists the tags of this project's releases, the highest version first.
func Tags(ctx context.Context, s Settings, dir string, now time.Time) ([]Made, error) {
	r, err := s.open(ctx, dir, now)
	if err != nil {
		return nil, err
	}
	tags, err := r.TagList(ctx)
	if err != nil {
		return nil, err
	}
	var made []Made
	for _, t := range tags {
		rest, ok := strings.CutPrefix(t.Name, s.TagPrefix)
		if v, err := semver.Parse(rest); ok && err == nil {
			made = append(made, Made{t, v})
		}
	}
	slices.SortStableFunc(made, func(a, b Made) int { return semver.Compare(b.Version, a.Version) })
	return made, nil
}
