package lock

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
)

var (
	providerName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`) })
	signer        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9+/=:._ ()@-]{1,200}$`) })
	strictVersion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	})
)

func (p *parser) body(body *hclsyntax.Body) {
	for _, a := range attributesOf(body) {
		if a.Name != "lock_file_version" {
			p.fail(a.NameRange, "Unexpected argument in the lock file", "%q stands outside of any block. %s", a.Name, startAnew)
		}
	}
	for _, b := range body.Blocks {
		if b.Type != "provider" || len(b.Labels) != 1 || !providerName().MatchString(b.Labels[0]) {
			p.fail(b.DefRange(), "Unexpected block in the lock file", "It holds blocks of the form provider \"NAME\" { … }. %s", startAnew)
			continue
		}
		if first, twice := p.file.Provider(b.Labels[0]); twice {
			p.fail(b.DefRange(), "Provider \""+b.Labels[0]+"\" is locked twice", "The first one is in line %d. Keep one of them.", first.line)
			continue
		}
		p.file.Set(p.provider(b))
	}
}

// provider reads a block. What is wrong with it is among the problems.
func (p *parser) provider(b *hclsyntax.Block) Provider {
	out := Provider{Name: b.Labels[0], line: b.DefRange().Start.Line}
	for _, inner := range b.Body.Blocks {
		p.fail(inner.DefRange(), "Unexpected block in the lock file", "A provider has no blocks. %s", startAnew)
	}
	for _, name := range []string{"source", "version", "resolved_at", "checksums"} {
		if b.Body.Attributes[name] == nil {
			p.fail(b.DefRange(), "Missing "+name+" in the lock file", "%s", startAnew)
		}
	}
	for _, a := range attributesOf(b.Body) {
		p.argument(&out, a)
	}
	return out
}

func (p *parser) argument(out *Provider, a *hclsyntax.Attribute) {
	switch a.Name {
	case "source":
		p.parsed(a.Expr, func(text string) (err error) {
			out.Source, err = config.ParseSource(text)
			return err
		})
	case "version":
		p.parsed(a.Expr, func(text string) (err error) {
			out.Version, err = checkVersion(text)
			return err
		})
	case "resolved_at":
		p.parsed(a.Expr, func(text string) (err error) {
			out.ResolvedAt, err = parseTime(text)
			return err
		})
	case "signed_by":
		p.parsed(a.Expr, func(text string) error {
			out.SignedBy = text
			return checkSigner(text)
		})
	case "checksums":
		if out.Checksums = p.sums(a.Expr); out.Checksums != nil && len(out.Checksums) == 0 {
			p.fail(a.NameRange, "No checksums in the lock file", "Nothing could be held to them. %s", startAnew)
		}
	case "programs":
		out.Programs = p.sums(a.Expr)
	default:
		p.fail(a.NameRange, "Unexpected argument in the lock file", "A provider has source, version, resolved_at, signed_by, checksums and programs. %s", startAnew)
	}
}

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	t = t.UTC().Truncate(time.Second)
	if err == nil && (t.Year() < 1 || t.Year() > 9999) { // what UTC makes of the first and the last day there is
		err = fmt.Errorf("%q is no time that could be written again", text)
	}
	return t, err
}

// checkSigner keeps to what can be written as it was read.
func checkSigner(text string) error {
	if !signer().MatchString(text) {
		return fmt.Errorf("%q is not the name of a key", text)
	}
	return nil
}

func checkVersion(text string) (string, error) {
	if !strictVersion().MatchString(text) {
		return "", fmt.Errorf("%q is not a semantic version", text)
	}
	if _, err := version.NewSemver(text); err != nil {
		return "", fmt.Errorf("%q is not a semantic version: %w", text, err)
	}
	return text, nil
}

// sums reads an object from platforms to checksums.
func (p *parser) sums(expr hclsyntax.Expression) map[registry.Platform]Checksum {
	object, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		p.fail(expr.Range(), "Expected an object in the lock file", "Write { linux_amd64 = \"sha256:…\" }.")
		return nil
	}
	sums := map[registry.Platform]Checksum{}
	for _, item := range object.Items {
		platform, err := registry.ParsePlatform(hcl.ExprAsKeyword(item.KeyExpr))
		if err != nil {
			p.fail(item.KeyExpr.Range(), "Invalid platform in the lock file", "%s.", err)
			continue
		}
		if _, twice := sums[platform]; twice {
			p.fail(item.KeyExpr.Range(), "Platform "+platform.String()+" is locked twice", "Keep the line that the release confirms. %s", startAnew)
			continue
		}
		p.parsed(item.ValueExpr, func(text string) (err error) {
			sums[platform], err = ParseChecksum(text)
			return err
		})
	}
	return sums
}

// parsed hands on the text of a string that is nothing but text.
func (p *parser) parsed(expr hclsyntax.Expression, parse func(string) error) {
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		p.fail(expr.Range(), "Expected quoted text in the lock file", "%s", startAnew)
		return
	}
	if err := parse(v.AsString()); err != nil {
		p.fail(expr.Range(), "Invalid value in the lock file", "%s. %s", err, startAnew)
	}
}

func attributesOf(b *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(b.Attributes), func(x, y *hclsyntax.Attribute) int {
		return cmp.Compare(x.SrcRange.Start.Byte, y.SrcRange.Start.Byte)
	})
}
