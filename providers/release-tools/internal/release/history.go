package release

import (
	"fmt"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/semver"
)

// past is a release that was made before: known by its tag, its section in the changelog, or both.
type past struct {
	version semver.Version
	tag     string // its name, also if only the section is there
	tagged  bool
	line    int // of the section, 0 if only the tag is there
}

// releases collects what was released, without walking history; doc may be nil. Tags of other prefixes and tags that are no versions
// are none of this project's releases.
func releases(prefix string, tags []string, doc *changelog.Document) []past {
	var out []past
	for _, t := range tags {
		rest, ok := strings.CutPrefix(t, prefix)
		if v, err := semver.Parse(rest); ok && err == nil {
			out = append(out, past{version: v, tag: t, tagged: true})
		}
	}
	if doc == nil {
		return out
	}
	tagged := map[string][]int{}
	for i, r := range out {
		tagged[r.version.Precedence()] = append(tagged[r.version.Precedence()], i)
	}
	for _, s := range doc.Released() {
		v, ok := s.Strict()
		if !ok {
			continue
		}
		known := tagged[v.Precedence()]
		for _, i := range known {
			out[i].line = s.Line
		}
		if len(known) == 0 {
			out = append(out, past{version: v, tag: prefix + v.String(), line: s.Line})
		}
	}
	return out
}

// latest returns the release with the highest precedence that keep accepts.
func latest(known []past, keep func(past) bool) (past, bool) {
	var best past
	found := false
	for _, r := range known {
		if keep(r) && (!found || semver.Less(best.version, r.version)) {
			best, found = r, true
		}
	}
	return best, found
}

// previous is the tag a comparison starts from: for a final release the last final one, for a pre-release the last of
// any kind; "" if there is none.
func previous(known []past, v semver.Version) string {
	last, _ := latest(known, func(r past) bool { return v.Prerelease() || !r.version.Prerelease() })
	return last.tag
}

// checkNewer refuses a version that is not above everything released, and a clone too shallow to tell.
func (p *Plan) checkNewer(known []past) error {
	last, found := latest(known, func(past) bool { return true })
	if p.repo.Shallow() && !last.tagged {
		return tooShallow("the tag of the last release is not in it, so that " + p.Version.String() + " cannot be checked")
	}
	if !found {
		return nil
	}
	switch c := semver.Compare(p.Version, last.version); {
	case c > 0:
		return nil
	case c == 0:
		return refusal.New("version-exists", "version %s was released already (%s): choose a newer one", last.version, last.where(p.settings.Changelog))
	}
	hint := ""
	if id := semver.Undotted(p.Version, last.version); id != "" {
		hint = fmt.Sprintf("; %q compares as text, write it with a dot before the number", id)
	}
	return refusal.New("not-newer", "version %s is not newer than %s (%s)%s", p.Version, last.version, last.where(p.settings.Changelog), hint)
}

// where says how the release is known.
func (r past) where(file string) string {
	if r.tagged {
		return "tag " + r.tag
	}
	return fmt.Sprintf("%s:%d", file, r.line)
}

func shorten(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}
