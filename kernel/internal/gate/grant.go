package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/policy"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
)

// Grant is an approval of more than the one call that was asked about: of calls of the same operation, with commands
// that begin alike or paths in the same folders. It lasts as long as its Gate.
type Grant struct {
	// Match is what the calls have in common.
	Match policy.Match

	category commonv1.Category
	paths    []string // names of the arguments that are paths: a call with others, or without one, is about more
}

// grantFor is the widest grant that may be offered for a call; nil when there is none but for the call itself.
func (g *Gate) grantFor(c Call) *Grant {
	match := policy.Similar(g.forPolicy(c))
	if match == nil {
		return nil
	}
	return &Grant{Match: *match, category: c.Category, paths: pathNames(c)}
}

// String is the grant in words.
func (g *Grant) String() string {
	var parts []string
	if len(g.Match.Command) > 0 {
		parts = append(parts, strings.Join(g.Match.Command, " ; "))
	}
	for _, name := range slices.Sorted(maps.Keys(g.Match.Arguments)) {
		parts = append(parts, name+"="+g.Match.Arguments[name])
	}
	return Call{Provider: g.Match.Provider, Operation: g.Match.ToolName, Category: g.category}.String() + " " + strings.Join(parts, ", ")
}

// covers reports whether a call is one of those that were approved.
func (g *Grant) covers(c policy.Call, call Call) bool {
	if call.Category != g.category || !slices.Equal(pathNames(call), g.paths) || c.DecidingFile() != "" {
		return false
	}
	set, err := policy.New([]policy.Rule{{Name: "grant", Match: g.Match, Action: policy.Allow}})
	return err == nil && set.Decide(c).Rule != nil
}

func pathNames(c Call) []string {
	paths, _ := policy.Paths(c.Arguments)
	return slices.Sorted(maps.Keys(paths))
}

// remember keeps a grant until the Gate is gone.
func (g *Gate) remember(grant *Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grants = append(g.grants, grant)
}

// granted finds a grant for a call that would be asked about.
func (g *Gate) granted(c Call) *Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, grant := range g.grants {
		if grant.covers(g.forPolicy(c), c) {
			return grant
		}
	}
	return nil
}
