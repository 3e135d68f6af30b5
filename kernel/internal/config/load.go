package config

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Load reads the agent.hcl at path. The scope's Root is set to its folder; shown is the name that
// diagnostics give the file. The error is of type Diagnostics.
func Load(path, shown string, scope Scope) (*Project, error) {
	f, diags := open(path, shown)
	scope.Root = filepath.Dir(path)
	return load(f, diags, path, scope)
}

func load(f *file, syntax hcl.Diagnostics, path string, scope Scope) (*Project, error) {
	l := &loader{
		file: f, scope: scope, syntax: syntax, diags: syntax,
		first: map[string]hcl.Range{}, blocks: map[string]*block{},
		project: &Project{File: path, Root: scope.Root, Settings: Settings{Retry: DefaultRetry}, file: f, scope: scope},
	}
	l.run()
	all := f.render(l.diags)
	if err := all.errorsOnly(); err != nil {
		return nil, err
	}
	l.project.Warnings = all
	return l.project, nil
}

// loader walks one agent.hcl and collects everything that is wrong with it.
type loader struct {
	file    *file
	scope   Scope
	syntax  hcl.Diagnostics
	diags   hcl.Diagnostics
	project *Project
	// first remembers where a block of a type and name stands, to point back at it from a second one.
	first map[string]hcl.Range
	// blocks are the provider blocks by name.
	blocks map[string]*block
}

// kind is what may stand at the top of agent.hcl.
type kind struct {
	label string // what the one label is, empty for none
	read  func(*loader, *block)
}

var kinds = map[string]kind{
	"required_providers": {"", (*loader).requiredProviders},
	"provider":           {"provider name", (*loader).provider},
	"policy":             {"policy name", (*loader).policy},
	"settings":           {"", (*loader).settings},
	"agent_profile":      {"profile name", (*loader).profile},
	"hook":               {"hook point", (*loader).hook},
}

func (l *loader) run() {
	for _, a := range sortedAttributes(l.file.body) {
		l.fail(a.NameRange, "Unexpected argument", "%q stands outside of any block. %s", a.Name, allowedBlocks(a.Name))
	}
	for _, b := range l.file.body.Blocks {
		// What the parser could not read has been reported; the rest of such a block would only echo it.
		if l.broken(b) {
			continue
		}
		k, known := kinds[b.Type]
		if !known {
			l.fail(b.TypeRange, "Unknown block "+quoted(b.Type), "%s", allowedBlocks(b.Type))
			continue
		}
		if l.labelled(b, k.label) && l.unique(b) {
			k.read(l, b)
		}
	}
	if !l.syntax.HasErrors() {
		l.link()
		l.checkPolicyProviders()
		l.checkProfileProviders()
	}
	l.checkPolicies()
}

func (l *loader) fail(at hcl.Range, summary, detail string, args ...any) {
	l.diags = append(l.diags, errorAt(at, summary, detail, args...))
}

func (l *loader) broken(b *block) bool {
	return slices.ContainsFunc(l.syntax, func(d *hcl.Diagnostic) bool {
		return d.Subject != nil && (d.Subject.Overlaps(b.Range()) || b.Range().ContainsPos(d.Subject.Start))
	})
}

// labelled checks the number of labels.
func (l *loader) labelled(b *block, label string) bool {
	switch {
	case label == "" && len(b.Labels) > 0:
		l.fail(b.LabelRanges[0], "Unexpected label", "A %s block has no label: write %s { … }.", b.Type, b.Type)
	case label != "" && len(b.Labels) == 0:
		l.fail(b.TypeRange, "Missing "+label, "Write %s \"NAME\" { … }.", b.Type)
	case label != "" && len(b.Labels) > 1:
		l.fail(b.LabelRanges[1], "Unexpected label", "A %s block has one label, its %s.", b.Type, label)
	default:
		return true
	}
	return false
}

// unique checks that this is the first block of its type and name.
func (l *loader) unique(b *block) bool {
	name := b.Type
	for _, label := range b.Labels {
		name += " " + quoted(label)
	}
	if first, seen := l.first[name]; seen {
		l.fail(b.DefRange(), "Duplicate "+name, "The first one is at %s. Merge the two.", position(first))
		return false
	}
	l.first[name] = b.DefRange()
	return true
}

func allowedBlocks(name string) string {
	names := slices.Sorted(maps.Keys(kinds))
	return didYouMean(name, names) + "The top level holds the blocks " + list(names) + "."
}

func sortedAttributes(b *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(b.Attributes), func(x, y *hclsyntax.Attribute) int {
		return cmp.Compare(x.SrcRange.Start.Byte, y.SrcRange.Start.Byte)
	})
}
