package schema

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// Encode turns a struct of this type into a payload. Text that is not UTF-8 is made so, since one bad byte
// would turn the whole message into a transport failure. A number that JSON has no form for is an error.
func (t *Type) Encode(from any) (*structpb.Struct, error) {
	v := reflect.ValueOf(from)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return t.node.encodeStruct(v)
}

func (n *node) encodeStruct(v reflect.Value) (*structpb.Struct, error) {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(n.fields))}
	for i := range n.fields {
		f := &n.fields[i]
		member := v.FieldByIndex(f.index)
		if f.optional && member.IsZero() {
			continue
		}
		value, err := f.node.encode(member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		s.Fields[f.name] = value
	}
	return s, nil
}

func (n *node) encode(v reflect.Value) (*structpb.Value, error) {
	if n.pointer {
		if v.IsNil() {
			return structpb.NewNullValue(), nil
		}
		v = v.Elem()
	}
	switch n.kind {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		return structpb.NewStringValue(strings.ToValidUTF8(v.String(), "\uFFFD")), nil
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		return structpb.NewBoolValue(v.Bool()), nil
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		return encodeNumber(v)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		s, err := n.encodeStruct(v)
		if err != nil {
			return nil, err
		}
		return structpb.NewStructValue(s), nil
	default:
		return n.encodeList(v)
	}
}

func (n *node) encodeList(v reflect.Value) (*structpb.Value, error) {
	list := &structpb.ListValue{Values: make([]*structpb.Value, v.Len())}
	for i := range list.Values {
		value, err := n.items.encode(v.Index(i))
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		list.Values[i] = value
	}
	return structpb.NewListValue(list), nil
}

func encodeNumber(v reflect.Value) (*structpb.Value, error) {
	var f float64
	switch {
	case v.CanInt():
		f = float64(v.Int())
	case v.CanUint():
		f = float64(v.Uint())
	default:
		f = v.Float()
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v has no form in JSON", f)
	}
	return structpb.NewNumberValue(f), nil
}
