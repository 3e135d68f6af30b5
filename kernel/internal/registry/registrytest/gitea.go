package registrytest

import (
	"net/http"
	"strconv"
	"strings"
)

// Gitea puts a Gitea, or Forgejo, on a host.
func (n *Net) Gitea(host string) *Forge {
	return n.newForge(host, host, dialect{
		base: "/api/v1", version: "/version", releases: gitHubPath, page: giteaPage, describe: giteaRelease,
		missing: func(r *http.Request) any {
			return object{"errors": nil, "message": "The target couldn't be found.", "url": origin(r, r.Host) + "/api/swagger"}
		},
		whoami: func(w http.ResponseWriter, _ *http.Request) {
			(*Forge)(nil).answer(w, http.StatusOK, object{"version": "12.0.4+gitea-1.22.0"})
		},
	})
}

func giteaPage(f *Forge, w http.ResponseWriter, r *http.Request, all []release) []release {
	if r.URL.Query().Get("draft") == "false" {
		var seen []release
		for _, one := range all {
			if !one.Draft {
				seen = append(seen, one)
			}
		}
		all = seen
	}
	size, page := number(r, "limit", 30, 50), number(r, "page", 1, 1<<20)
	link(w, r, f.Host, page, (len(all)+size-1)/size)
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	return window(all, page, size)
}

func giteaRelease(f *Forge, r *http.Request, repo string, one release) any {
	web := origin(r, f.Host)
	assets := []object{}
	for i, a := range one.Assets {
		assets = append(assets, object{
			"id": one.id*1000 + i, "name": a.Name, "size": len(a.Data), "download_count": 3, "created_at": "2024-01-02T03:04:05Z",
			"uuid": "a5c7f3f1", "type": "attachment", "browser_download_url": web + "/" + repo + "/releases/download/" + one.Tag + "/" + a.Name,
		})
	}
	self := web + f.base + "/repos/" + repo + "/releases/" + strconv.Itoa(one.id)
	return object{
		"id": one.id, "tag_name": one.Tag, "target_commitish": "main", "name": one.Tag, "body": "", "url": self,
		"html_url": web + "/" + repo + "/releases/tag/" + one.Tag, "hide_archive_links": false, "upload_url": self + "/assets",
		"tarball_url": web + "/" + repo + "/archive/" + one.Tag + ".tar.gz", "zipball_url": web + "/" + repo + "/archive/" + one.Tag + ".zip",
		"draft": one.Draft, "prerelease": one.Prerelease, "created_at": "2024-01-02T03:04:05Z", "published_at": "2024-01-02T03:04:05Z",
		"author": object{"id": 1, "login": strings.Split(repo, "/")[0], "full_name": "", "email": "1@noreply.example.org"}, "assets": assets,
	}
}
