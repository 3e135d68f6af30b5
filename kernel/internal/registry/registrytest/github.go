package registrytest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
)

type object = map[string]any

// GitHub puts a GitHub on a host: for github.com with its API on api.github.com, else as GitHub Enterprise has it.
func (n *Net) GitHub(host string) *Forge {
	api := host
	if host == "github.com" {
		api = "api.github.com"
	}
	return n.newForge(host, api, dialect{
		base: "/api/v3", version: "/meta", releases: gitHubPath, page: gitHubPage, describe: gitHubRelease,
		missing: func(*http.Request) any {
			return object{"message": "Not Found", "documentation_url": "https://docs.github.com/rest/releases/releases#list-releases", "status": "404"}
		},
		whoami: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-GitHub-Enterprise-Version", "3.17.0")
			(*Forge)(nil).answer(w, http.StatusOK, object{"verifiable_password_authentication": true, "installed_version": "3.17.0"})
		},
	})
}

// gitHubPath reads /repos/O/R/releases, …/releases/tags/TAG and …/releases/assets/ID.
func gitHubPath(path string) (repo, rest string, ok bool) {
	e := strings.Split(strings.Trim(path, "/"), "/")
	if len(e) < 4 || e[0] != "repos" || e[3] != "releases" {
		return "", "", false
	}
	repo = e[1] + "/" + e[2]
	switch {
	case len(e) == 4:
		return repo, "", true
	case len(e) == 6 && e[4] == "tags":
		return repo, "tag/" + e[5], true
	case len(e) == 6 && e[4] == "assets":
		return repo, "asset/" + e[5], true
	}
	return "", "", false
}

func gitHubPage(f *Forge, w http.ResponseWriter, r *http.Request, all []release) []release {
	var seen []release
	for _, one := range all {
		if !one.Draft || f.Token != "" { // who may push sees drafts
			seen = append(seen, one)
		}
	}
	size, page := number(r, "per_page", 30, 100), number(r, "page", 1, 1<<20)
	link(w, r, f.API, page, (len(seen)+size-1)/size)
	w.Header().Set("X-RateLimit-Limit", "60")
	w.Header().Set("X-RateLimit-Remaining", "42")
	w.Header().Set("X-RateLimit-Resource", "core")
	return window(seen, page, size)
}

func gitHubRelease(f *Forge, r *http.Request, repo string, one release) any {
	api, web := origin(r, f.API), origin(r, f.Host)
	if f.API == f.Host || r.TLS == nil {
		api += f.base
	}
	assets := []object{}
	for i, a := range one.Assets {
		state := "uploaded"
		if a.Unfinished {
			state = "starter"
		}
		assets = append(assets, object{
			"url": api + "/repos/" + repo + "/releases/assets/" + assetID(one, i), "id": one.id*1000 + i, "node_id": "RA_kwDOx",
			"name": a.Name, "label": "", "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(a.Data)), "uploader": gitHubUser, "content_type": "application/gzip", "state": state, "size": len(a.Data),
			"download_count": 7, "created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-01-02T03:04:06Z",
			"browser_download_url": web + "/" + repo + "/releases/download/" + one.Tag + "/" + a.Name,
		})
	}
	release := api + "/repos/" + repo + "/releases/" + assetID(one, 0)
	return object{
		"url": release, "assets_url": release + "/assets", "upload_url": release + "/assets{?name,label}",
		"html_url": web + "/" + repo + "/releases/tag/" + one.Tag, "id": one.id, "author": gitHubUser, "node_id": "RE_kwDOx",
		"tag_name": one.Tag, "target_commitish": "main", "name": one.Tag, "draft": one.Draft, "immutable": false, "prerelease": one.Prerelease,
		"created_at": "2024-01-02T03:04:05Z", "published_at": "2024-01-02T03:05:05Z", "assets": assets,
		"tarball_url": api + "/repos/" + repo + "/tarball/" + one.Tag, "zipball_url": api + "/repos/" + repo + "/zipball/" + one.Tag,
		"body": "## Changelog\n* a change", "mentions_count": 1,
	}
}

var gitHubUser = object{"login": "octocat", "id": 1, "node_id": "MDQ6VXNlcjE=", "type": "User", "user_view_type": "public", "site_admin": false}
