package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/adrg/xdg"
	"github.com/hashicorp/hcl/v2"
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
	Forges       []Forge
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
		l.fail(a.NameRange, "Unexpected argument", "%q stands outside of any block. The blocks are %s.", a.Name, list(globalBlocks))
	}
	for _, b := range f.body.Blocks {
		if !l.broken(b) {
			l.globalBlock(g, b)
		}
	}
	if err := f.render(l.diags).errorsOnly(); err != nil {
		return nil, err
	}
	return g, nil
}

var globalBlocks = []string{"dev_overrides", "forge", "registry_mirror"}

func (l *loader) globalBlock(g *Global, b *block) {
	label := ""
	if b.Type == "forge" {
		label = "host"
	}
	switch {
	case !slices.Contains(globalBlocks, b.Type):
		l.fail(b.TypeRange, "Unknown block "+quoted(b.Type), "%sThe blocks are %s.", didYouMean(b.Type, globalBlocks), list(globalBlocks))
	case !l.labelled(b, label) || !l.unique(b):
	case b.Type == "dev_overrides":
		g.DevOverrides, g.overridesAt = l.devOverrides(b)
	case b.Type == "forge":
		g.Forges = append(g.Forges, l.forge(b))
	default:
		g.Mirror = l.mirror(b)
	}
}

func (l *loader) devOverrides(b *block) (overrides map[string]string, at map[string]hcl.Range) {
	l.noBlocks(b)
	overrides, at = map[string]string{}, map[string]hcl.Range{}
	for _, a := range sortedAttributes(b.Body) {
		if !providerName().MatchString(a.Name) {
			l.fail(a.NameRange, "Invalid provider name "+quoted(a.Name), "A name is lower-case letters, digits, - and _, beginning with a letter.")
			continue
		}
		if diags := unbounded(a.Expr); len(diags) > 0 {
			l.diags = append(l.diags, diags...)
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
