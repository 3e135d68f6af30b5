package registry

import (
	"context"

	"github.com/agentco/agent/kernel/internal/config"
)

// supplier is one way to get the releases of a source.
type supplier interface {
	// list is every release there is, or as many as are read.
	list(ctx context.Context, s config.Source) (listing, error)
	// pinned is the release of one version; NotFound or NoMatchingVersion when there is none.
	pinned(ctx context.Context, s config.Source, version string) (published, error)
	// mirror reports whether what is not there may be somewhere else.
	mirror() bool
}

// listing is what a supplier has of a source.
type listing struct {
	from     string // what people call the supplier
	releases []published
	// capped is how many releases were read when there are more; 0 when these are all.
	capped int
}

// suppliers are the ways to a source, in the order they are tried. The forge of a source that has a mirror is
// among them only when that is allowed: otherwise nothing is ever asked of it.
func (c *Client) suppliers(s config.Source) []supplier {
	rule, mirrored := c.mirror.For(s)
	if !mirrored {
		return []supplier{forge{c}}
	}
	all := []supplier{newMirror(c, rule)}
	if c.mirror.AllowsDirect(s) {
		all = append(all, forge{c})
	}
	return all
}
