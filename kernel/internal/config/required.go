package config

import (
	"regexp"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/agentco/agent/kernel/internal/signature"
)

// A provider's name is half of PROVIDER.TOOL, so it holds no dot.
var providerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`) })

// IsProviderName reports whether a provider can be called so.
func IsProviderName(name string) bool { return providerName().MatchString(name) }

func (l *loader) requiredProviders(b *block) {
	for _, inner := range b.Body.Blocks {
		l.fail(inner.DefRange(), "Unexpected block", "Write %s = { source = \"HOST/OWNER/REPO\", version = \"~> 1.0.0\" }.", inner.Type)
	}
	for _, a := range sortedAttributes(b.Body) {
		if !providerName().MatchString(a.Name) {
			l.fail(a.NameRange, "Invalid provider name "+quoted(a.Name), "A name is lower-case letters, digits, - and _, beginning with a letter.")
			continue
		}
		l.requiredProvider(a)
	}
}

func (l *loader) requiredProvider(a *hclsyntax.Attribute) {
	entries, ok := l.object(a.Expr, "source", "version", "public_key")
	if !ok {
		return
	}
	p := &Provider{Name: a.Name, declared: a.NameRange, file: l.file, scope: l.scope}
	source, given := entries["source"]
	if !given {
		l.fail(a.NameRange, "Missing source", "Say where %s is released: source = \"HOST/OWNER/REPO\".", a.Name)
	} else if s, ok := l.text(source); ok {
		parsed, err := ParseSource(s)
		if err != nil {
			l.fail(source.Range(), "Invalid source", "%s. Write HOST/OWNER/REPO, or HOST/OWNER/REPO//provider-NAME.", sentence(err))
		}
		p.Source = parsed
	}
	if expr, given := entries["version"]; given {
		l.version(p, expr)
	}
	if expr, given := entries["public_key"]; given {
		l.publicKey(p, expr)
	}
	l.project.Providers = append(l.project.Providers, p)
}

func (l *loader) publicKey(p *Provider, expr hclsyntax.Expression) {
	s, ok := l.text(expr)
	if !ok {
		return
	}
	key, err := signature.ParseKey(s)
	if err != nil {
		l.fail(expr.Range(), "Invalid public key", "%s. Write a minisign key (\"RW…\") or an ssh key (\"ssh-ed25519 AAAA…\").", sentence(err))
	}
	p.PublicKey = key
}

func (l *loader) version(p *Provider, expr hclsyntax.Expression) {
	s, ok := l.text(expr)
	if !ok {
		return
	}
	c, err := ParseConstraint(s)
	if err != nil {
		l.fail(expr.Range(), "Invalid version constraint", "%s.", sentence(err))
	}
	p.Version = c
}

// link joins the provider blocks with the entries of required_providers.
func (l *loader) link() {
	names := l.project.providerNames()
	for _, b := range l.file.body.Blocks {
		if b.Type != "provider" || len(b.Labels) != 1 || l.blocks[b.Labels[0]] != b {
			continue
		}
		if p := l.project.Provider(b.Labels[0]); p != nil {
			p.settings = b
			continue
		}
		l.fail(b.LabelRanges[0], "Provider "+quoted(b.Labels[0])+" is not required",
			"%sAdd it to required_providers: %s = { source = \"HOST/OWNER/REPO\" }.", didYouMean(b.Labels[0], names), b.Labels[0])
	}
}

// object reads an object of constant shape and reports keys it may not have.
func (l *loader) object(expr hclsyntax.Expression, allowed ...string) (map[string]hclsyntax.Expression, bool) {
	cons, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		l.fail(expr.Range(), "Expected an object", "Write { %s = … }.", allowed[0])
		return nil, false
	}
	return l.entries(cons, allowed), true
}

// entries are the members of an object; allowed empty takes any name.
func (l *loader) entries(cons *hclsyntax.ObjectConsExpr, allowed []string) map[string]hclsyntax.Expression {
	entries := map[string]hclsyntax.Expression{}
	for _, item := range cons.Items {
		key := keyOf(item)
		at := item.KeyExpr.Range()
		switch {
		case key == "" && len(allowed) == 0:
			l.fail(at, "Expected a plain name", "Write the name of an argument.")
		case key == "":
			l.fail(at, "Expected a plain name", "Use one of %s.", list(allowed))
		case len(allowed) > 0 && !contains(allowed, key):
			l.fail(at, "Unknown argument "+quoted(key), "%sUse %s.", didYouMean(key, allowed), list(allowed))
		case entries[key] != nil:
			l.fail(at, "Duplicate argument "+quoted(key), "It is given before, at %s.", position(entries[key].Range()))
		default:
			entries[key] = item.ValueExpr
		}
	}
	return entries
}

// keyOf is the constant name of an object's entry, empty when it is not constant.
func keyOf(item hclsyntax.ObjectConsItem) string {
	if name := hcl.ExprAsKeyword(item.KeyExpr); name != "" {
		return name
	}
	v, diags := item.KeyExpr.Value(nil)
	if s, ok := asString(v); ok && !diags.HasErrors() {
		return s
	}
	return ""
}
