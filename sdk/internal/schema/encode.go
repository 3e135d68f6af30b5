package schema

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// Encode turns a struct of this type, of a parsed one a *structpb.Struct, into a payload that fits the schema. Text that
// is not UTF-8 is made so, since one bad byte would turn the whole message into a transport failure. What would not fit,
// or not survive, is an error: a number that JSON has no form for or that float64 would round, a text outside its enum.
func (t *Type) Encode(from any) (*structpb.Struct, error) {
	if t.raw {
		s, _ := from.(*structpb.Struct)
		if s == nil {
			s = &structpb.Struct{}
		}
		if err := shallow(s, 1); err != nil {
			return nil, err
		}
		return s, t.node.check(s)
	}
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
			return nil, errors.New("is nil, which the schema has no word for inside a list")
		}
		v = v.Elem()
	}
	switch n.kind {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		return n.encodeString(v)
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		return structpb.NewBoolValue(v.Bool()), nil
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		return encodeNumber(v)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		if n.free {
			return encodeFree(v)
		}
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

func (n *node) encodeString(v reflect.Value) (*structpb.Value, error) {
	if n.text {
		text, err := marshaler(v).MarshalText()
		return structpb.NewStringValue(strings.ToValidUTF8(string(text), "\uFFFD")), err
	}
	text := v.String()
	if len(n.enum) > 0 && !slices.Contains(n.enum, text) {
		return nil, fmt.Errorf("%q is none of %s", text, strings.Join(n.enum, ", "))
	}
	return structpb.NewStringValue(strings.ToValidUTF8(text, "\uFFFD")), nil
}

func encodeFree(v reflect.Value) (*structpb.Value, error) {
	if v.Len() == 0 { // of nil, encoding/json makes null
		return structpb.NewStructValue(&structpb.Struct{}), nil
	}
	s, err := Free(v.Interface())
	return structpb.NewStructValue(s), err
}

// marshaler is v as what writes itself; the method may be one of its pointer.
func marshaler(v reflect.Value) encoding.TextMarshaler {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		return m
	}
	copied := reflect.New(v.Type())
	copied.Elem().Set(v)
	return copied.Interface().(encoding.TextMarshaler)
}

func encodeNumber(v reflect.Value) (*structpb.Value, error) {
	var f float64
	exact := true
	switch {
	case v.CanInt():
		f, exact = float64(v.Int()), v.Int() >= -(1<<53) && v.Int() <= 1<<53
	case v.CanUint():
		f, exact = float64(v.Uint()), v.Uint() <= 1<<53
	default:
		f = v.Float()
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf("%v has no form in JSON", f)
	case !exact:
		return nil, fmt.Errorf("%v is beyond 2^53, where the wire would round it; use a string", v)
	}
	return structpb.NewNumberValue(f), nil
}
