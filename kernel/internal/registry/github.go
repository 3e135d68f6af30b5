package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
)

// gitHub is the REST API of github.com and of GitHub Enterprise.
var gitHub = dialect{
	kind:     config.GitHub,
	tokenEnv: "GITHUB_TOKEN",
	accept:   "application/vnd.github+json",
	base: func(host string) string {
		if host == "github.com" {
			return "https://api.github.com"
		}
		return scheme(host) + host + "/api/v3"
	},
	first: func(s config.Source) string {
		return fmt.Sprintf("/repos/%s/%s/releases?per_page=100", s.Owner, s.Repo)
	},
	tagged: taggedRelease,
	next:   nextLink,
	parse:  parseGitHub,
}

// taggedRelease is where GitHub, and those who took after it, have the release of a tag.
func taggedRelease(s config.Source, tag string) string {
	return fmt.Sprintf("/repos/%s/%s/releases/tags/%s", s.Owner, s.Repo, url.PathEscape(tag))
}

func parseGitHub(data json.RawMessage) (published, error) {
	var r struct {
		TagName    string `json:"tag_name"`
		Draft      bool   `json:"draft"`
		Prerelease bool   `json:"prerelease"`
		Assets     []struct {
			Name  string `json:"name"`
			Size  int64  `json:"size"`
			State string `json:"state"`
			API   string `json:"url"`
			URL   string `json:"browser_download_url"`
		} `json:"assets"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return published{}, err
	}
	p := published{tag: r.TagName, draft: r.Draft, prerelease: r.Prerelease}
	for _, a := range r.Assets {
		if a.State == "" || a.State == "uploaded" { // others are on their way, or never arrived
			p.assets = append(p.assets, Asset{Name: a.Name, Size: max(a.Size, 0), URL: a.URL, apiURL: a.API})
		}
	}
	return p, nil
}

// nextLink is the target of rel="next" in a Link header (RFC 8288).
func nextLink(page *url.URL, h http.Header) string {
	for _, header := range h.Values("Link") {
		for link := range strings.SplitSeq(header, ",") {
			target, params, ok := strings.Cut(strings.TrimSpace(link), ">")
			if !ok || !strings.HasPrefix(target, "<") || !relNext(params) {
				continue
			}
			if u, err := page.Parse(target[1:]); err == nil {
				return u.String()
			}
		}
	}
	return ""
}

func relNext(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
			return true
		}
	}
	return false
}
