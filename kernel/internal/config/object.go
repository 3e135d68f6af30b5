package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// object turns the values of a block or of an object into fields. exprs has the expressions behind the
// values where they are known; at is where a missing one is reported; shape shows how to write one.
func (d *decoder) object(attrs []*configv1.ConfigAttribute, values map[string]cty.Value, exprs map[string]hclsyntax.Expression, at hcl.Range, shape string) map[string]*structpb.Value {
	fields := map[string]*structpb.Value{}
	for _, attr := range attrs {
		name := attr.GetName()
		where := at
		if e := exprs[name]; e != nil {
			where = e.Range()
		}
		v, given := values[name]
		switch {
		case given && !v.IsNull():
			fields[name] = d.value(attr, v, exprs[name], where)
		case attr.DefaultJson != nil:
			fields[name] = defaultOf(attr)
		default:
			d.absent(attr, where, shape)
		}
	}
	return fields
}

// absent reports an argument that is needed and not there.
func (d *decoder) absent(attr *configv1.ConfigAttribute, at hcl.Range, shape string) {
	if attr.GetRequired() && attr.DefaultJson == nil {
		d.fail(at, "Missing required argument "+quoted(attr.GetName()), "Write "+shape+".%s", attr.GetName(), placeholder(attr), described(attr))
	}
}

// placeholder is what to write for a value; a secret can be written in one way only.
func placeholder(attr *configv1.ConfigAttribute) string {
	if attr.GetSensitive() {
		return `env("NAME")`
	}
	return "…"
}

// described is what the provider says about an attribute.
func described(attr *configv1.ConfigAttribute) string {
	if attr.GetDescription() == "" {
		return ""
	}
	return " It is: " + attr.GetDescription()
}

func (d *decoder) value(attr *configv1.ConfigAttribute, v cty.Value, expr hclsyntax.Expression, at hcl.Range) *structpb.Value {
	if attr.GetType() == configv1.AttrType_ATTR_TYPE_OBJECT {
		return d.nested(attr, v, expr, at)
	}
	v, err := convert.Convert(v, typeOf(attr.GetType()))
	if err != nil {
		d.fail(at, "Wrong type for "+quoted(attr.GetName()), "%s.", withoutKeys(sentence(err), expr))
		return nil
	}
	out, err := toValue(v)
	if err != nil {
		d.fail(at, "Invalid value for "+quoted(attr.GetName()), "%s.", sentence(err))
	}
	return out
}

func (d *decoder) nested(attr *configv1.ConfigAttribute, v cty.Value, expr hclsyntax.Expression, at hcl.Range) *structpb.Value {
	members := attr.GetObjectAttributes()
	if t := v.Type(); !t.IsObjectType() && !t.IsMapType() {
		d.fail(at, "Wrong type for "+quoted(attr.GetName()), "Write an object: %s = { %s = … }.", attr.GetName(), members[0].GetName())
		return nil
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.GetName()
	}
	exprs := map[string]hclsyntax.Expression{}
	if cons, ok := expr.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range cons.Items {
			exprs[keyOf(item)] = item.ValueExpr
		}
	}
	values := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			where := at
			if e := exprs[name]; e != nil {
				where = e.Range()
			}
			d.fail(where, "Unknown argument in "+quoted(attr.GetName()), "%sIt has %s.", didYouMean(name, names), list(names))
		}
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: d.object(members, values, exprs, at, "%s = %s in "+attr.GetName())})
}

// toValue converts what has been converted to the type of its attribute.
func toValue(v cty.Value) (*structpb.Value, error) {
	switch t := v.Type(); {
	case v.IsNull() || !v.IsKnown():
		return nil, fmt.Errorf("it holds null, and every element needs a value")
	case t == cty.String:
		return structpb.NewStringValue(v.AsString()), nil
	case t == cty.Bool:
		return structpb.NewBoolValue(v.True()), nil
	case t == cty.Number:
		return toNumber(v.AsBigFloat())
	case t.IsListType():
		return toList(v)
	default:
		return toMap(v)
	}
}

// toNumber refuses a number that the wire's double would change.
func toNumber(n *big.Float) (*structpb.Value, error) {
	f, accuracy := n.Float64()
	if math.IsInf(f, 0) || n.IsInt() && accuracy != big.Exact {
		return nil, fmt.Errorf("the number cannot be passed on exactly: at most 15 digits are safe")
	}
	return structpb.NewNumberValue(f), nil
}

func toList(v cty.Value) (*structpb.Value, error) {
	values := make([]*structpb.Value, 0, v.LengthInt())
	for _, e := range v.Elements() {
		item, err := toValue(e)
		if err != nil {
			return nil, err
		}
		values = append(values, item)
	}
	return structpb.NewListValue(&structpb.ListValue{Values: values}), nil
}

func toMap(v cty.Value) (*structpb.Value, error) {
	fields := map[string]*structpb.Value{}
	for k, e := range v.Elements() {
		item, err := toValue(e)
		if err != nil {
			return nil, err
		}
		fields[k.AsString()] = item
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields}), nil
}

// defaultOf is the default of an attribute; checkSchema has made sure that it parses.
func defaultOf(attr *configv1.ConfigAttribute) *structpb.Value {
	v := &structpb.Value{}
	if err := json.Unmarshal([]byte(attr.GetDefaultJson()), v); err != nil {
		return structpb.NewNullValue()
	}
	return v
}
