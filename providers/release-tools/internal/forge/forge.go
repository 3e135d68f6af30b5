// Package forge knows where the common code forges show a comparison and a tag.
//
// It never guesses: a host whose shape is not known gives nothing, because a link that leads nowhere is worse than none.
package forge

import (
	"net/url"
	"strings"
)

// Pages holds the addresses of a repository's pages, with {from} and {to}, or {tag}, in them.
type Pages struct{ Compare, Tag string }

type shape struct {
	compare, tag string
	nested       bool // projects may lie in groups of groups
}

var (
	github = shape{"/compare/{from}...{to}", "/releases/tag/{tag}", false}
	gitlab = shape{"/-/compare/{from}...{to}", "/-/tags/{tag}", true}
	gitea  = shape{"/compare/{from}...{to}", "/releases/tag/{tag}", false}
)

func shapeOf(host string) (shape, bool) {
	switch {
	case host == "github.com":
		return github, true
	case host == "gitlab.com", strings.HasPrefix(host, "gitlab."):
		return gitlab, true
	case host == "codeberg.org", host == "gitea.com":
		return gitea, true
	}
	return shape{}, false
}

// Remote returns the pages of the repository behind a git remote, in any spelling git takes. Credentials in it are
// dropped. False means the forge is not known.
func Remote(remote string) (Pages, bool) {
	host, path, ok := split(remote)
	if !ok {
		return Pages{}, false
	}
	s, ok := shapeOf(host)
	parts := strings.Split(path, "/")
	if !ok || len(parts) < 2 || len(parts) > 2 && !s.nested {
		return Pages{}, false
	}
	base := "https://" + host + "/" + path
	return Pages{base + s.compare, base + s.tag}, true
}

// Page returns the pages of the repository that a web page of it belongs to.
func Page(page string) (Pages, bool) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return Pages{}, false
	}
	s, ok := shapeOf(strings.ToLower(u.Host))
	if !ok {
		return Pages{}, false
	}
	path := strings.Trim(u.EscapedPath(), "/")
	if s.nested {
		path, _, _ = strings.Cut(path, "/-/")
	} else if parts := strings.SplitN(path, "/", 3); len(parts) > 2 {
		path = parts[0] + "/" + parts[1]
	}
	return Remote(u.Scheme + "://" + u.Host + "/" + path)
}

// split reads host and path out of a URL or of the scp-like spelling user@host:path.
func split(remote string) (host, path string, ok bool) {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "file" {
			return "", "", false
		}
		host, path = u.Hostname(), u.EscapedPath()
	} else {
		before, after, found := strings.Cut(remote, ":")
		if !found || strings.Contains(before, "/") {
			return "", "", false
		}
		host, path = before[strings.LastIndexByte(before, '@')+1:], after
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return strings.ToLower(host), path, host != "" && path != ""
}
