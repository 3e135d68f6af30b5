package config

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// Decode checks the provider block against the provider's schema and returns what Configure gets, with
// defaults filled in. A problem of the block is an error of type Diagnostics, one of the schema is not.
func (p *Provider) Decode(schema *configv1.ConfigSchema) (*structpb.Struct, error) {
	if err := checkSchema(schema.GetAttributes(), ""); err != nil {
		return nil, fmt.Errorf("provider %q describes its configuration wrongly: %w", p.Name, err)
	}
	d := &decoder{provider: p}
	fields := d.block(schema.GetAttributes())
	if err := p.file.render(d.diags).errorsOnly(); err != nil {
		return nil, err
	}
	return &structpb.Struct{Fields: fields}, nil
}

type decoder struct {
	provider *Provider
	diags    hcl.Diagnostics
}

func (d *decoder) fail(at hcl.Range, summary, detail string, args ...any) {
	d.diags = append(d.diags, errorAt(at, summary, detail, args...))
}

func (d *decoder) block(attrs []*configv1.ConfigAttribute) map[string]*structpb.Value {
	p := d.provider
	if p.settings == nil {
		return d.object(attrs, nil, nil, p.declared, fmt.Sprintf("provider %q { %%s = %%s }", p.Name))
	}
	body := p.settings.Body
	for _, attr := range attrs {
		if a := body.Attributes[attr.GetName()]; a != nil {
			d.sensitive(attr, a.Expr)
		}
	}
	if d.diags.HasErrors() {
		return nil
	}
	v, diags := hcldec.Decode(body, blockSpec(attrs), p.scope.context())
	if diags.HasErrors() {
		d.diags = append(d.diags, d.explain(attrs, diags)...)
		for _, attr := range attrs {
			if body.Attributes[attr.GetName()] == nil {
				d.absent(attr, p.settings.DefRange(), "%s = %s")
			}
		}
		return nil
	}
	exprs := map[string]hclsyntax.Expression{}
	for name, a := range body.Attributes {
		exprs[name] = a.Expr
	}
	return d.object(attrs, v.AsValueMap(), exprs, p.settings.DefRange(), "%s = %s")
}

// blockSpec leaves objects to decoder.object: cty would drop unknown members without a word.
func blockSpec(attrs []*configv1.ConfigAttribute) hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	for _, a := range attrs {
		spec[a.GetName()] = &hcldec.AttrSpec{Name: a.GetName(), Type: typeOf(a.GetType())}
	}
	return spec
}

func typeOf(t configv1.AttrType) cty.Type {
	switch t {
	case configv1.AttrType_ATTR_TYPE_STRING:
		return cty.String
	case configv1.AttrType_ATTR_TYPE_NUMBER:
		return cty.Number
	case configv1.AttrType_ATTR_TYPE_BOOL:
		return cty.Bool
	case configv1.AttrType_ATTR_TYPE_LIST_STRING:
		return cty.List(cty.String)
	case configv1.AttrType_ATTR_TYPE_LIST_NUMBER:
		return cty.List(cty.Number)
	case configv1.AttrType_ATTR_TYPE_MAP_STRING:
		return cty.Map(cty.String)
	default:
		return cty.DynamicPseudoType
	}
}

// explain finds the attribute each diagnostic is about and applies its rules of secrecy.
func (d *decoder) explain(attrs []*configv1.ConfigAttribute, diags hcl.Diagnostics) hcl.Diagnostics {
	secret := map[string]bool{}
	for _, a := range attrs {
		secret[a.GetName()] = a.GetSensitive()
	}
	for _, diag := range diags {
		for name, a := range d.provider.settings.Body.Attributes {
			if diag.Subject == nil || !a.Range().Overlaps(*diag.Subject) || diag.Summary == "Unsupported argument" {
				continue
			}
			if diag.Summary == "Incorrect attribute value type" {
				diag.Detail = withoutKeys(diag.Detail, a.Expr)
			} else {
				explain(d.provider.file, a, diag)
			}
			if secret[name] {
				diag.Extra = masked{}
			}
		}
	}
	return diags
}

// key is how a conversion names a member of a map.
var key = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`element "(?:[^"\\]|\\.)*"`) })

// withoutKeys leaves out the keys that an expression may have got from a variable: one may be a secret. An expression
// that is not known may have got all of them there.
func withoutKeys(detail string, expr hclsyntax.Expression) string {
	if expr != nil && len(envCalls(expr)) == 0 {
		return detail
	}
	return key().ReplaceAllLiteralString(detail, "an element")
}
