package registry

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/agentco/agent/kernel/internal/config"
)

// gitLab is the REST API of gitlab.com and of GitLab on a host of one's own.
var gitLab = dialect{
	kind:     config.GitLab,
	tokenEnv: "GITLAB_TOKEN",
	accept:   "application/json",
	base:     func(host string) string { return scheme(host) + host + "/api/v4" },
	first:    func(s config.Source) string { return gitLabReleases(s) + "?per_page=100" },
	tagged:   func(s config.Source, tag string) string { return gitLabReleases(s) + "/" + url.PathEscape(tag) },
	next:     nextPage,
	parse:    parseGitLab,
}

func gitLabReleases(s config.Source) string {
	return "/projects/" + s.Owner + "%2F" + s.Repo + "/releases"
}

func parseGitLab(data json.RawMessage) (published, error) {
	var r struct {
		TagName  string `json:"tag_name"`
		Upcoming bool   `json:"upcoming_release"`
		Assets   struct {
			Links []struct {
				Name   string `json:"name"`
				URL    string `json:"url"`
				Direct string `json:"direct_asset_url"`
			} `json:"links"`
		} `json:"assets"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return published{}, err
	}
	p := published{tag: r.TagName, draft: r.Upcoming}
	for _, l := range r.Assets.Links {
		p.assets = append(p.assets, Asset{Name: l.Name, URL: cmp.Or(l.URL, l.Direct)})
	}
	return p, nil
}

// nextPage follows X-Next-Page, else a Link header as keyset pagination sends it.
func nextPage(page *url.URL, h http.Header) string {
	n, err := strconv.Atoi(h.Get("X-Next-Page"))
	if err != nil || n < 2 {
		return nextLink(page, h)
	}
	next := *page
	query := next.Query()
	query.Set("page", strconv.Itoa(n))
	next.RawQuery = query.Encode()
	return next.String()
}
