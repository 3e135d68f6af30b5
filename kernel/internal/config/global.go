package config

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Global is a user's config.hcl. The zero value is that of a user without one.
type Global struct {
	// File is where it was read from, or would have been.
	File string
	// DevOverrides maps the name of a provider to the absolute path of a binary to run instead of an
	// installed one.
	DevOverrides map[string]string
	overridesAt  map[string]hcl.Range
	Mirror       Mirror
}

// Mirror says where releases are fetched from instead of their source.
type Mirror struct {
	// Default is the mirror of every source without a rule; empty for none.
	Default string
	Rules   []MirrorRule
}

// MirrorRule sends the sources with a prefix to a URL. Of several that match, the longest prefix wins.
type MirrorRule struct {
	Prefix, URL string
	// AuthEnv names the environment variable that holds the mirror's token; empty for none.
	AuthEnv string
}

// GlobalPath is where the configuration of this user is.
func GlobalPath() string { return filepath.Join(xdg.ConfigHome, "agent", "config.hcl") }

// LoadGlobal reads the config.hcl at path; a file that does not exist is an empty one. The error is of
// type Diagnostics.
func LoadGlobal(path string, scope Scope) (*Global, error) {
	if !filepath.IsAbs(path) { // it would be a file of whatever folder this is, and say what to run
		return nil, Diagnostics{{Severity: Error, Summary: "No place for config.hcl", File: path,
			Detail: "The folder of the user's configuration is not an absolute path. Set HOME or XDG_CONFIG_HOME to one."}}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &Global{File: path}, nil
	}
	f, diags := open(path, path)
	return loadGlobal(f, diags, path, scope)
}

func loadGlobal(f *file, syntax hcl.Diagnostics, path string, scope Scope) (*Global, error) {
	g := &Global{File: path}
	l := &loader{file: f, scope: scope, syntax: syntax, diags: syntax, first: map[string]hcl.Range{}}
	for _, a := range sortedAttributes(f.body) {
		l.fail(a.NameRange, "Unexpected argument", "%q stands outside of any block. The blocks are dev_overrides and registry_mirror.", a.Name)
	}
	for _, b := range f.body.Blocks {
		switch {
		case l.broken(b):
		case b.Type != "dev_overrides" && b.Type != "registry_mirror":
			l.fail(b.TypeRange, "Unknown block "+quoted(b.Type), "%sThe blocks are dev_overrides and registry_mirror.",
				didYouMean(b.Type, []string{"dev_overrides", "registry_mirror"}))
		case !l.labelled(b, "") || !l.unique(b):
		case b.Type == "dev_overrides":
			g.DevOverrides, g.overridesAt = l.devOverrides(b)
		default:
			g.Mirror = l.mirror(b)
		}
	}
	if err := f.render(l.diags).errorsOnly(); err != nil {
		return nil, err
	}
	return g, nil
}

func (l *loader) devOverrides(b *block) (overrides map[string]string, at map[string]hcl.Range) {
	l.noBlocks(b)
	overrides, at = map[string]string{}, map[string]hcl.Range{}
	for _, a := range sortedAttributes(b.Body) {
		if !providerName.MatchString(a.Name) {
			l.fail(a.NameRange, "Invalid provider name "+quoted(a.Name), "A name is lower-case letters, digits, - and _, beginning with a letter.")
			continue
		}
		v, diags := a.Expr.Value(l.scope.context())
		if diags.HasErrors() {
			explain(l.file, a, diags...)
			l.diags = append(l.diags, diags...)
			continue
		}
		path, ok := asString(v)
		if !ok || !filepath.IsAbs(path) {
			l.fail(a.Expr.Range(), "Not an absolute path",
				"The file serves every project, so there is no folder a relative path could begin at. Write an absolute path to the binary, such as \"${path.home}/bin/provider-%s\".", a.Name)
			continue
		}
		overrides[a.Name], at[a.Name] = filepath.Clean(path), a.NameRange
	}
	return overrides, at
}

func (l *loader) noBlocks(b *block) {
	for _, inner := range b.Body.Blocks {
		l.fail(inner.DefRange(), "Unexpected block "+quoted(inner.Type), "A %s block holds arguments only.", b.Type)
	}
}

func (l *loader) mirror(b *block) Mirror {
	var m Mirror
	for _, a := range sortedAttributes(b.Body) {
		if a.Name == "default" {
			m.Default = l.url(a.Expr)
			continue
		}
		l.fail(a.NameRange, "Unknown argument "+quoted(a.Name), "%sA registry_mirror has default = URL and mirror blocks.", didYouMean(a.Name, []string{"default"}))
	}
	for _, inner := range b.Body.Blocks {
		if inner.Type != "mirror" {
			l.fail(inner.TypeRange, "Unknown block "+quoted(inner.Type), "%sA registry_mirror has default = URL and mirror blocks.", didYouMean(inner.Type, []string{"mirror"}))
			continue
		}
		if l.labelled(inner, "") {
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

func (l *loader) url(expr hclsyntax.Expression) string {
	s, ok := l.text(expr)
	if !ok {
		return ""
	}
	problem := ""
	switch u, err := url.Parse(s); {
	case err != nil:
		problem = "it does not parse as a URL"
	case u.User != nil:
		problem = "it holds a password: use auth = env(\"NAME\")"
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		problem = "it must begin with https:// and a host"
	}
	if problem != "" {
		d := errorAt(expr.Range(), "Invalid URL", "%s.", capital(problem))
		d.Extra = masked{}
		l.diags = append(l.diags, d)
	}
	return s
}

// authEnv is the variable that auth names. It is read when the mirror is used, not before.
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

// Overridden are the providers of a project whose binary is named here, in the order of the project.
func (g *Global) Overridden(p *Project) []string {
	var names []string
	for _, pr := range p.Providers {
		if _, ok := g.DevOverrides[pr.Name]; ok {
			names = append(names, pr.Name)
		}
	}
	return names
}

// OverrideLine is the line of File that names the binary of a provider; 0 when there is none.
func (g *Global) OverrideLine(provider string) int { return g.overridesAt[provider].Start.Line }
