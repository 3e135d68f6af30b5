package config

import (
	"slices"
	"strings"
)

// ForgeKind is the release API that a host speaks.
type ForgeKind string

// The kinds of forge. Forgejo speaks Gitea's API.
const (
	GitHub ForgeKind = "github"
	GitLab ForgeKind = "gitlab"
	Gitea  ForgeKind = "gitea"
)

var forgeKinds = []string{string(GitHub), string(GitLab), string(Gitea)}

// Forge is a user's word on a host that releases are fetched from: what it is, and that its token may be
// sent there.
//
//	forge "git.example.org" {
//	  type = "gitlab"
//	  auth = env("WORK_GITLAB_TOKEN")
//	}
type Forge struct {
	Host string
	Kind ForgeKind
	// AuthEnv names the variable that holds the token; empty for the usual one of the kind.
	AuthEnv string
}

func (l *loader) forge(b *block) Forge {
	l.noBlocks(b)
	f := Forge{Host: strings.ToLower(b.Labels[0])}
	if !hostPattern().MatchString(f.Host) {
		l.fail(b.LabelRanges[0], "Invalid host", "Write the host as in a source: forge \"git.example.org\" { … }.")
	}
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "type":
			kind, ok := l.text(a.Expr)
			if ok && !slices.Contains(forgeKinds, kind) {
				l.fail(a.Expr.Range(), "Unknown type of forge", "%sThe types are %s; Forgejo is a gitea.", didYouMean(kind, forgeKinds), list(forgeKinds))
			}
			f.Kind = ForgeKind(kind)
		case "auth":
			f.AuthEnv = l.authEnv(a)
		default:
			l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA forge has type and auth.", didYouMean(a.Name, []string{"type", "auth"}))
		}
	}
	if b.Body.Attributes["type"] == nil {
		l.fail(b.DefRange(), "Missing type", "Say what the host is: type = \"gitlab\". The types are %s.", list(forgeKinds))
	}
	return f
}
