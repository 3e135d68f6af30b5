package registrytest

import (
	"net/http"
	"strconv"
	"strings"
)

// GitLab puts a GitLab on a host.
func (n *Net) GitLab(host string) *Forge {
	return n.newForge(host, host, dialect{
		base: "/api/v4", version: "/version", releases: gitLabPath, page: gitLabPage, describe: gitLabRelease,
		isGitLab: true,
		missing:  func(*http.Request) any { return object{"message": "404 Project Not Found"} },
		whoami: func(w http.ResponseWriter, _ *http.Request) {
			(*Forge)(nil).answer(w, http.StatusUnauthorized, object{"message": "401 " + http.StatusText(http.StatusUnauthorized)})
		},
	})
}

// gitLabPath reads /projects/O%2FR/releases and …/releases/TAG.
func gitLabPath(path string) (repo, rest string, ok bool) {
	e := strings.Split(strings.Trim(path, "/"), "/")
	if len(e) < 3 || len(e) > 4 || e[0] != "projects" || e[2] != "releases" {
		return "", "", false
	}
	repo = strings.NewReplacer("%2F", "/", "%2f", "/").Replace(e[1])
	if len(e) == 4 {
		rest = "tag/" + e[3]
	}
	return repo, rest, true
}

func gitLabPage(_ *Forge, w http.ResponseWriter, r *http.Request, all []release) []release {
	size, page := number(r, "per_page", 20, 100), number(r, "page", 1, 1<<20)
	last := max((len(all)+size-1)/size, 1)
	next := ""
	if page < last {
		next = strconv.Itoa(page + 1)
	}
	for name, value := range map[string]string{
		"X-Next-Page": next, "X-Page": strconv.Itoa(page), "X-Per-Page": strconv.Itoa(size), "X-Prev-Page": "",
		"X-Total": strconv.Itoa(len(all)), "X-Total-Pages": strconv.Itoa(last), "RateLimit-Limit": "2000", "RateLimit-Remaining": "1990",
	} {
		w.Header().Set(name, value)
	}
	return window(all, page, size)
}

func gitLabRelease(f *Forge, r *http.Request, repo string, one release) any {
	web := origin(r, f.Host) + "/" + repo
	links := []object{}
	for i, a := range one.Assets {
		links = append(links, object{
			"id": one.id*1000 + i, "name": a.Name, "link_type": "other",
			"url":              web + "/-/package_files/" + one.Tag + "/" + a.Name,
			"direct_asset_url": web + "/-/releases/" + one.Tag + "/downloads/" + one.Tag + "/" + a.Name,
		})
	}
	return object{
		"tag_name": one.Tag, "name": one.Tag, "description": "## Changelog", "created_at": "2024-01-02T03:04:05.000Z", "released_at": "2024-01-02T03:04:05.000Z",
		"upcoming_release": one.Draft, "tag_path": "/" + repo + "/-/tags/" + one.Tag, "commit_path": "/" + repo + "/-/commit/0b5ee37",
		"author": object{"id": 1, "username": "root", "name": "Administrator", "state": "active", "locked": false},
		"commit": object{"id": "0b5ee37", "short_id": "0b5ee37", "title": "a change"}, "evidences": []object{},
		"assets": object{"count": len(links) + 2, "links": links, "sources": []object{
			{"format": "zip", "url": web + "/-/archive/" + one.Tag + "/r-" + one.Tag + ".zip"},
			{"format": "tar.gz", "url": web + "/-/archive/" + one.Tag + "/r-" + one.Tag + ".tar.gz"},
		}},
		"_links": object{"self": web + "/-/releases/" + one.Tag},
	}
}
