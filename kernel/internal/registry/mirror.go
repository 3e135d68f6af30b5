package registry

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
)

// maxIndex is the size of a mirror's index, in bytes.
const maxIndex = 8 << 20

// mirror is one that config.hcl names for a source.
type mirror struct {
	c    *Client
	at   *origin
	rule config.MirrorRule
}

func newMirror(c *Client, rule config.MirrorRule) mirror {
	at := &origin{name: rule.URL, mirror: true, tokenEnv: rule.AuthEnv, token: c.token(rule.AuthEnv)}
	switch u, err := url.Parse(rule.URL); {
	case filepath.IsAbs(rule.URL):
		at.dir = filepath.Clean(rule.URL)
	case err == nil && u.Scheme == "file":
		at.dir = filepath.FromSlash(u.Path)
		if local := strings.TrimPrefix(u.Path, "/"); filepath.VolumeName(local) != "" { // file:///C:/mirror
			at.dir = filepath.FromSlash(local)
		}
	case err == nil:
		at.base, at.name = u, shownURL(u)
	}
	return mirror{c, at, rule}
}

func (mirror) mirror() bool { return true }

// address is where a file of the mirror is.
func (m mirror) address(s config.Source, elements ...string) string {
	all := append([]string{MirrorFolder(s)}, elements...)
	if m.at.dir != "" {
		return filepath.Join(m.at.dir, filepath.FromSlash(path.Join(all...)))
	}
	// A host may have a port, whose colon JoinPath leaves as it is.
	return m.at.base.JoinPath(all...).String()
}

func (m mirror) list(ctx context.Context, s config.Source) (listing, error) {
	return m.c.listings.get(ctx, m.at.name+" "+s.String(), func() (listing, error) { return m.read(ctx, s) })
}

func (m mirror) read(ctx context.Context, s config.Source) (listing, error) {
	r := request{from: m.at, url: m.address(s, IndexName), accept: "application/json", attempted: "find " + s.String() + " on its mirror"}
	if m.at.dir == "" && m.at.base == nil || m.rule.AuthEnv != "" && m.at.token == "" {
		return listing{}, m.unusable(r)
	}
	data, _, err := m.c.fetch(ctx, r, maxIndex)
	if err != nil {
		return listing{}, err
	}
	index, err := ParseMirrorIndex(data)
	if err != nil {
		return listing{}, r.strange(err)
	}
	all := listing{from: m.at.name}
	for version, release := range index.Versions {
		p := published{tag: "v" + version}
		for _, name := range release.Files {
			p.assets = append(p.assets, Asset{Name: name, URL: m.address(s, version, name)})
		}
		all.releases = append(all.releases, p)
	}
	all.releases = m.at.own(all.releases)
	return all, nil
}

func (m mirror) unusable(r request) *Error {
	e := &Error{Code: MirrorFailed, Attempted: r.attempted, On: m.at.name, Reason: "the address of the mirror is neither a URL nor an absolute path"}
	if m.rule.AuthEnv != "" && m.at.token == "" {
		e.Reason, e.Advice = m.rule.AuthEnv+" is not set", "The mirror needs the token that config.hcl says is there"
	}
	return e
}

func (m mirror) pinned(ctx context.Context, s config.Source, version string) (published, error) {
	all, err := m.list(ctx, s)
	if err != nil {
		return published{}, err
	}
	for _, p := range all.releases {
		if p.tag == "v"+version {
			return p, nil
		}
	}
	return published{}, noMatch(s, fmt.Sprintf("the mirror %s has no v%s", m.at.name, version), all)
}

// MirrorFolder is the folder of a source in a mirror, with slashes.
func MirrorFolder(s config.Source) string {
	return strings.TrimSuffix(path.Join(s.Host, s.Owner, s.Repo, s.Part), "/")
}
