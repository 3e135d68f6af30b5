package registrytest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Forge is a host with releases. Its files are fetched by a redirect to a storage on another host, which answers
// 400 to anyone who shows it an Authorization header, as real ones do.
type Forge struct {
	// Host is that of sources, API the one its API is on, Storage the one it redirects to.
	Host, API, Storage string
	// Token makes everything private: without it there is nothing to see. Set it before the first request.
	Token string

	net *Net
	dialect

	mu    sync.Mutex
	repos map[string][]release // newest first
	last  int
}

type release struct {
	Release
	id int
}

// dialect is what the kinds of forge differ in. Paths begin after the API's base.
type dialect struct {
	base     string // of the API, on a host that has web pages too
	version  string // the path that tells what this is
	releases func(path string) (repo, rest string, ok bool)
	page     func(f *Forge, w http.ResponseWriter, r *http.Request, all []release) []release
	describe func(f *Forge, r *http.Request, repo string, one release) any
	missing  func(r *http.Request) any
	whoami   func(w http.ResponseWriter, r *http.Request)
	// isGitLab: a draft is a release of a later day, which anyone sees, and a release that is not there is forbidden.
	isGitLab bool
}

func (n *Net) newForge(host, api string, d dialect) *Forge {
	f := &Forge{Host: host, API: api, Storage: "storage." + api, net: n, dialect: d, repos: map[string][]release{}}
	n.Handle(api, http.HandlerFunc(f.serve))
	n.Handle(host, http.HandlerFunc(f.serve))
	n.Handle(f.Storage, http.HandlerFunc(f.store))
	return f
}

// Publish adds a release to OWNER/REPO, as the newest one; one with the same tag is replaced.
func (f *Forge) Publish(repo string, releases ...Release) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range releases {
		f.last++
		kept := slices.DeleteFunc(f.repos[repo], func(o release) bool { return o.Tag == r.Tag })
		f.repos[repo] = slices.Insert(kept, 0, release{r, f.last})
	}
}

// Release is what was published under a tag; zero when nothing was.
func (f *Forge) Release(repo, tag string) Release {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.repos[repo] {
		if one.Tag == tag {
			return one.Release
		}
	}
	return Release{}
}

// Loopback is an address, HOST:PORT, at which the forge is reached by plain http, with its storage on another.
func (f *Forge) Loopback() string {
	address := f.net.loopback()
	f.net.Handle(address, http.HandlerFunc(f.serve))
	_, port, _ := net.SplitHostPort(address)
	f.net.Handle(net.JoinHostPort("localhost", port), http.HandlerFunc(f.store))
	return address
}

func (f *Forge) serve(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	switch rest, isAPI := strings.CutPrefix(path, f.base); {
	case r.Host == f.API && f.API != f.Host:
		f.api(w, r, path)
	case isAPI:
		f.api(w, r, rest)
	default:
		f.web(w, r)
	}
}

func (f *Forge) api(w http.ResponseWriter, r *http.Request, path string) {
	if path == f.version {
		f.whoami(w, r)
		return
	}
	repo, rest, ok := f.releases(path)
	f.mu.Lock()
	all, known := f.repos[repo]
	all = slices.Clone(all)
	f.mu.Unlock()
	if !ok || !known || !f.allowed(r) {
		f.answer(w, http.StatusNotFound, f.missing(r))
		return
	}
	switch tag, tagged := strings.CutPrefix(rest, "tag/"); {
	case rest == "":
		f.list(w, r, repo, all)
	case tagged:
		f.one(w, r, repo, all, tag)
	default:
		f.download(w, r, all, rest)
	}
}

func (f *Forge) list(w http.ResponseWriter, r *http.Request, repo string, all []release) {
	page := []any{}
	for _, one := range f.page(f, w, r, all) {
		page = append(page, f.describe(f, r, repo, one))
	}
	f.answer(w, http.StatusOK, page)
}

func (f *Forge) one(w http.ResponseWriter, r *http.Request, repo string, all []release, tag string) {
	i := slices.IndexFunc(all, func(o release) bool { return o.Tag == tag && (!o.Draft || f.isGitLab) })
	if i < 0 && f.isGitLab {
		f.answer(w, http.StatusForbidden, object{"message": "403 Forbidden"})
		return
	}
	if i < 0 {
		f.answer(w, http.StatusNotFound, f.missing(r))
		return
	}
	f.answer(w, http.StatusOK, f.describe(f, r, repo, all[i]))
}

// download is GitHub's way to a file by its number, "asset/RELEASE-INDEX".
func (f *Forge) download(w http.ResponseWriter, r *http.Request, all []release, rest string) {
	for _, one := range all {
		for i, a := range one.Assets {
			if rest == "asset/"+assetID(one, i) {
				f.redirect(w, r, one, a)
				return
			}
		}
	}
	f.answer(w, http.StatusNotFound, f.missing(r))
}

// web serves /OWNER/REPO/releases/download/TAG/NAME and GitLab's /OWNER/REPO/-/…: any path that ends so.
func (f *Forge) web(w http.ResponseWriter, r *http.Request) {
	elements := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(elements) < 4 || !f.allowed(r) {
		http.NotFound(w, r)
		return
	}
	repo, tag, name := elements[0]+"/"+elements[1], elements[len(elements)-2], elements[len(elements)-1]
	f.mu.Lock()
	all := slices.Clone(f.repos[repo])
	f.mu.Unlock()
	for _, one := range all {
		for _, a := range one.Assets {
			if one.Tag == tag && a.Name == name {
				f.redirect(w, r, one, a)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func (f *Forge) redirect(w http.ResponseWriter, r *http.Request, one release, a Asset) {
	to := "https://" + f.Storage
	if r.TLS == nil {
		_, port, _ := net.SplitHostPort(r.Host)
		to = "http://" + net.JoinHostPort("localhost", port)
	}
	http.Redirect(w, r, fmt.Sprintf("%s/%d/%s?X-Amz-Signature=%s&X-Amz-Expires=300", to, one.id, a.Name, Signature), http.StatusFound)
}

func (f *Forge) allowed(r *http.Request) bool {
	return f.Token == "" || r.Header.Get("Authorization") == "Bearer "+f.Token
}

func (*Forge) answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// origin is the scheme and host that the client came by, which addresses in answers begin with.
func origin(r *http.Request, host string) string {
	if r.TLS == nil {
		return "http://" + r.Host
	}
	return "https://" + host
}

func assetID(one release, i int) string { return strconv.Itoa(one.id*1000 + i) }

// window is one page of all.
func window(all []release, page, size int) []release {
	start := min((page-1)*size, len(all))
	return all[start:min(start+size, len(all))]
}

func number(r *http.Request, name string, fallback, limit int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 1 {
		return fallback
	}
	return min(n, limit)
}

// pageAddress is the request's address with another page.
func pageAddress(r *http.Request, host string, page int) string {
	q := r.URL.Query()
	q.Set("page", strconv.Itoa(page))
	return origin(r, host) + r.URL.EscapedPath() + "?" + q.Encode()
}

// link sets a Link header with the pages that GitHub and Gitea name.
func link(w http.ResponseWriter, r *http.Request, host string, page, last int) {
	var links []string
	if page > 1 {
		links = append(links, fmt.Sprintf(`<%s>; rel="prev"`, pageAddress(r, host, page-1)))
	}
	if page < last {
		links = append(links, fmt.Sprintf(`<%s>; rel="next"`, pageAddress(r, host, page+1)), fmt.Sprintf(`<%s>; rel="last"`, pageAddress(r, host, last)))
	}
	if len(links) > 0 {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
}
