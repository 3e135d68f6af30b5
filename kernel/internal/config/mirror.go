package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Mirror says where releases are fetched from instead of their source.
type Mirror struct {
	// Default is the mirror of every source without a rule; empty for none. Like every address of a mirror
	// it is a URL (https, http to this machine alone, or file) or the absolute path of a folder.
	Default string
	Rules   []MirrorRule
	// Direct are the prefixes of sources that may come from their forge when their mirror does not have
	// them; an empty prefix means all. A source without a mirror always comes from its forge.
	Direct []string
}

// MirrorRule sends the sources with a prefix to a URL. Of several that match, the longest prefix wins.
type MirrorRule struct {
	Prefix, URL string
	// AuthEnv names the environment variable that holds the mirror's token; empty for none.
	AuthEnv string
}

// For is the mirror of a source; false when it has none.
func (m Mirror) For(s Source) (MirrorRule, bool) {
	best, found := MirrorRule{URL: m.Default}, m.Default != ""
	for _, r := range m.Rules {
		if covers(r.Prefix, s) && (!found || best.Prefix == "" || len(r.Prefix) > len(best.Prefix)) {
			best, found = r, true
		}
	}
	return best, found
}

// AllowsDirect reports whether what a mirror does not have of a source may come from its forge.
func (m Mirror) AllowsDirect(s Source) bool {
	for _, prefix := range m.Direct {
		if prefix == "" || covers(prefix, s) {
			return true
		}
	}
	return false
}

// covers compares whole elements: github.com/o is no prefix of github.com/other.
func covers(prefix string, s Source) bool {
	address, prefix := s.String(), strings.TrimRight(prefix, "/")
	host, rest, _ := strings.Cut(prefix, "/")
	prefix = strings.TrimRight(strings.ToLower(host)+"/"+rest, "/")
	return address == prefix || strings.HasPrefix(address, prefix+"/")
}

func (l *loader) mirror(b *block) Mirror {
	var m Mirror
	for _, a := range sortedAttributes(b.Body) {
		if a.Name == "default" {
			m.Default = l.url(a.Expr)
			continue
		}
		l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA registry_mirror has default = URL, mirror and direct blocks.", didYouMean(a.Name, []string{"default"}))
	}
	for _, inner := range b.Body.Blocks {
		switch {
		case inner.Type != "mirror" && inner.Type != "direct":
			l.fail(inner.TypeRange, "Unknown block "+quoted(inner.Type), "%sA registry_mirror has default = URL, mirror and direct blocks.", didYouMean(inner.Type, []string{"mirror", "direct"}))
		case !l.labelled(inner, ""):
		case inner.Type == "direct":
			m.Direct = append(m.Direct, l.direct(inner))
		default:
			m.Rules = append(m.Rules, l.mirrorRule(inner))
		}
	}
	return m
}

func (l *loader) mirrorRule(b *block) MirrorRule {
	l.noBlocks(b)
	var r MirrorRule
	for _, a := range sortedAttributes(b.Body) {
		switch a.Name {
		case "prefix":
			r.Prefix = l.nonEmpty(a.Expr)
		case "url":
			r.URL = l.url(a.Expr)
		case "auth":
			r.AuthEnv = l.authEnv(a)
		default:
			l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA mirror has prefix, url and auth.", didYouMean(a.Name, []string{"prefix", "url", "auth"}))
		}
	}
	for _, name := range []string{"prefix", "url"} {
		if b.Body.Attributes[name] == nil {
			l.fail(b.DefRange(), "Missing "+name, "A mirror needs prefix = \"HOST/OWNER\" and url = \"https://…\".")
		}
	}
	return r
}

// direct is the prefix of a direct block, empty when it has none.
func (l *loader) direct(b *block) string {
	l.noBlocks(b)
	prefix := ""
	for _, a := range sortedAttributes(b.Body) {
		if a.Name == "prefix" {
			prefix = l.nonEmpty(a.Expr)
			continue
		}
		l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA direct block has prefix, or nothing.", didYouMean(a.Name, []string{"prefix"}))
	}
	return prefix
}

// url is the address of a mirror.
func (l *loader) url(expr hclsyntax.Expression) string {
	s, ok := l.text(expr)
	if !ok || filepath.IsAbs(s) {
		return s
	}
	if problem := addressProblem(s); problem != "" {
		d := errorAt(expr.Range(), "Invalid URL", "%s.", capital(problem))
		d.Extra = masked{}
		l.diags = append(l.diags, d)
	}
	return s
}

func addressProblem(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "it does not parse as a URL"
	case u.User != nil:
		return "it holds a password: use auth = env(\"NAME\")"
	case u.Scheme == "file" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return ""
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return "it must begin with https:// and a host, or be the absolute path of a folder"
	case u.RawQuery != "" || u.Fragment != "":
		return "it must not have a query: files of the mirror are found below it"
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "plain http is for this machine alone: use https"
	}
	return ""
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// authEnv is the variable that auth names. It is read when the token is used, not before.
func (l *loader) authEnv(a *hclsyntax.Attribute) string {
	if !isEnvLiteral(a.Expr) {
		d := errorAt(a.Expr.Range(), "A secret must come from the environment", "Write exactly auth = env(\"NAME\"). The value in the file is not shown here.")
		d.Extra = masked{}
		l.diags = append(l.diags, d)
		return ""
	}
	v, _ := a.Expr.(*hclsyntax.FunctionCallExpr).Args[0].Value(nil)
	name, _ := asString(v)
	return name
}
