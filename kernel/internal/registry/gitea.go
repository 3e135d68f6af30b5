package registry

import (
	"encoding/json"
	"fmt"

	"github.com/agentco/agent/kernel/internal/config"
)

// gitea is the API of Gitea and Forgejo, codeberg.org among them. A page holds at most 50 unless the server's
// owner allows more.
var gitea = dialect{
	kind:   config.Gitea,
	accept: "application/json",
	base:   func(host string) string { return scheme(host) + host + "/api/v1" },
	first: func(s config.Source) string {
		return fmt.Sprintf("/repos/%s/%s/releases?draft=false&limit=50", s.Owner, s.Repo)
	},
	tagged: taggedRelease,
	next:   nextLink,
	parse:  parseGitea,
}

func parseGitea(data json.RawMessage) (published, error) {
	var r struct {
		TagName    string `json:"tag_name"`
		Draft      bool   `json:"draft"`
		Prerelease bool   `json:"prerelease"`
		Assets     []struct {
			Name string `json:"name"`
			Size int64  `json:"size"`
			URL  string `json:"browser_download_url"`
		} `json:"assets"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return published{}, err
	}
	p := published{tag: r.TagName, draft: r.Draft, prerelease: r.Prerelease}
	for _, a := range r.Assets {
		p.assets = append(p.assets, Asset{Name: a.Name, Size: max(a.Size, 0), URL: a.URL})
	}
	return p, nil
}
