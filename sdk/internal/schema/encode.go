package schema

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

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
	return t.node.encodeStruct(v, nil)
}

// encodeStruct encodes a struct. last, unless it is nil, holds the members of the struct before it in a list, and
// gets those of this one.
func (n *node) encodeStruct(v reflect.Value, last []*structpb.Value) (*structpb.Struct, error) {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(n.fields))}
	for i := range n.fields {
		f := &n.fields[i]
		member := v.FieldByIndex(f.index)
		if f.optional && member.IsZero() {
			continue
		}
		if last != nil && f.node.same(last[i], member) {
			s.Fields[f.name] = last[i]
			continue
		}
		value, err := f.node.encode(member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		s.Fields[f.name] = value
		if last != nil {
			last[i] = value
		}
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
		return boolValue(v.Bool()), nil
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		return encodeNumber(v)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		if n.free {
			return encodeFree(v)
		}
		return n.encodeObject(v, nil)
	default:
		return n.encodeList(v)
	}
}

func (n *node) encodeList(v reflect.Value) (*structpb.Value, error) {
	list := &structpb.ListValue{Values: make([]*structpb.Value, v.Len())}
	encode := n.items.encode
	if n.items.repeats() {
		last := make([]*structpb.Value, len(n.items.fields))
		encode = func(v reflect.Value) (*structpb.Value, error) { return n.items.encodeObject(v, last) }
	}
	for i := range list.Values {
		value, err := encode(v.Index(i))
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		list.Values[i] = value
	}
	return structpb.NewListValue(list), nil
}

// repeats reports whether what stands in a list is an object whose members may be those of the one before.
func (n *node) repeats() bool {
	return n.kind == schemav1.SchemaType_SCHEMA_TYPE_OBJECT && !n.free && !n.pointer
}

// same reports whether v is what was encoded as last. Long lists say much again and again (a type, a mode, a time), and
// a message may hold one value in many places.
func (n *node) same(last *structpb.Value, v reflect.Value) bool {
	if last == nil || n.pointer || n.text {
		return false
	}
	switch kind := last.GetKind().(type) {
	case *structpb.Value_StringValue:
		return kind.StringValue == v.String()
	case *structpb.Value_NumberValue:
		return v.CanInt() && kind.NumberValue == float64(v.Int()) && kind.NumberValue < 1<<53 && kind.NumberValue > -(1<<53)
	case *structpb.Value_BoolValue:
		return kind.BoolValue == v.Bool()
	}
	return false
}

func (n *node) encodeObject(v reflect.Value, last []*structpb.Value) (*structpb.Value, error) {
	s, err := n.encodeStruct(v, last)
	if err != nil {
		return nil, err
	}
	return structValue(s), nil
}

func (n *node) encodeString(v reflect.Value) (*structpb.Value, error) {
	text, err := n.stringOf(v)
	return stringValue(text), err
}

func (n *node) stringOf(v reflect.Value) (string, error) {
	if n.text {
		text, err := marshaler(v).MarshalText()
		return inUTF8(string(text)), err
	}
	text := v.String()
	if len(n.enum) > 0 && !slices.Contains(n.enum, text) {
		return "", fmt.Errorf("%q is none of %s", text, strings.Join(n.enum, ", "))
	}
	return inUTF8(text), nil
}

// inUTF8 is a text that is UTF-8. That nearly all are is soon seen; what ToValidUTF8 does takes several times as long.
func inUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
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
	f, err := numberOf(v)
	return numberValue(f), err
}

func numberOf(v reflect.Value) (float64, error) {
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
		return 0, fmt.Errorf("%v has no form in JSON", f)
	case !exact:
		return 0, fmt.Errorf("%v is beyond 2^53, where the wire would round it; use a string", v)
	}
	return f, nil
}
