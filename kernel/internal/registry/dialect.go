package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/agentco/agent/kernel/internal/config"
)

// dialect is the release API of one kind of forge.
type dialect struct {
	kind     config.ForgeKind
	tokenEnv string // the variable its token is in; empty when there is no agreed one
	accept   string
	// first is the path of the first page of releases, tagged that of one release, both below the API's base.
	first  func(config.Source) string
	tagged func(s config.Source, tag string) string
	// next is the address of the page after this one; empty on the last.
	next func(page *url.URL, h http.Header) string
	// parse reads one release.
	parse func(json.RawMessage) (published, error)
	// base is the address of the API of a host.
	base func(host string) string
}

// published is what a forge or mirror says about one release.
type published struct {
	tag        string
	draft      bool // or announced for a later day
	prerelease bool // marked as one, whatever its tag says
	assets     []Asset
}

var dialects = map[config.ForgeKind]dialect{
	config.GitHub: gitHub,
	config.GitLab: gitLab,
	config.Gitea:  gitea,
}

// parsePage reads a list of releases.
func (d dialect) parsePage(data []byte) ([]published, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("it is no list of releases: %w", err)
	}
	releases := make([]published, 0, len(raw))
	for _, r := range raw {
		p, err := d.parse(r)
		if err != nil {
			return nil, fmt.Errorf("one of its releases does not read: %w", err)
		}
		releases = append(releases, p)
	}
	return releases, nil
}

// scheme is how a host is spoken to: in the clear only when nothing leaves this machine.
func scheme(host string) string {
	u := url.URL{Scheme: "http", Host: host}
	if safe(&u) {
		return "http://"
	}
	return "https://"
}
