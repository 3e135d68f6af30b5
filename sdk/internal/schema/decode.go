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
	"github.com/agentco/agent/sdk/internal/suggest"
)

// ArgumentError says which argument does not fit, and why.
type ArgumentError struct {
	// Argument is the path to the value, for example "edits[2].old_string".
	Argument string
	// Problem completes the sentence "argument X …", for example "is required".
	Problem string
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("argument %s %s", e.Argument, e.Problem) }

// Decode fills the struct that into points to from the members of s; of a parsed type, into points to a
// *structpb.Struct and gets s itself. The error is an *ArgumentError.
func (t *Type) Decode(s *structpb.Struct, into any) error {
	if !t.raw {
		return t.node.decodeStruct(s, reflect.ValueOf(into).Elem(), "")
	}
	if s == nil {
		s = &structpb.Struct{}
	}
	*into.(**structpb.Struct) = s
	return t.node.check(s)
}

// check is decoding into nothing.
func (n *node) check(s *structpb.Struct) error {
	if n == nil {
		return nil
	}
	return n.decodeStruct(s, reflect.Value{}, "")
}

// In decode and what it calls, an invalid v is one that is not wanted: values are checked only.

func (n *node) decodeStruct(s *structpb.Struct, v reflect.Value, path string) error {
	if n.free {
		if v.IsValid() {
			v.Set(reflect.ValueOf(s.AsMap()))
		}
		return nil
	}
	for name := range s.GetFields() {
		if n.byName[name] == nil {
			return &ArgumentError{join(path, name), "is not known" + n.didYouMean(name)}
		}
	}
	for i := range n.fields {
		f := &n.fields[i]
		value, present := s.GetFields()[f.name]
		if present && isNull(value) && f.optional {
			present = false
		}
		if !present {
			value = f.fallback
		}
		switch {
		case value != nil:
			if err := f.node.decode(value, f.of(v), join(path, f.name)); err != nil {
				return err
			}
		case !f.optional:
			return &ArgumentError{join(path, f.name), "is required"}
		}
	}
	return nil
}

// of is the field in v.
func (f *field) of(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return v.FieldByIndex(f.index)
}

func (n *node) didYouMean(name string) string {
	names := make([]string, 0, len(n.fields))
	for i := range n.fields {
		names = append(names, n.fields[i].name)
	}
	if best := suggest.Nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	if len(names) == 0 {
		return "; there are no arguments"
	}
	slices.Sort(names)
	return "; there are " + strings.Join(names, ", ")
}

func (n *node) decode(value *structpb.Value, v reflect.Value, path string) error {
	if n == nil {
		return nil // a parsed schema says nothing of it
	}
	if n.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		if n.kind == schemav1.SchemaType_SCHEMA_TYPE_STRING {
			return n.decodeString(kind.StringValue, v, path)
		}
	case *structpb.Value_NumberValue:
		if n.kind == schemav1.SchemaType_SCHEMA_TYPE_NUMBER {
			return n.decodeNumber(kind.NumberValue, v, path)
		}
	case *structpb.Value_BoolValue:
		if n.kind == schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN {
			if v.IsValid() {
				v.SetBool(kind.BoolValue)
			}
			return nil
		}
	case *structpb.Value_ListValue:
		if n.kind == schemav1.SchemaType_SCHEMA_TYPE_ARRAY {
			return n.decodeList(kind.ListValue.GetValues(), v, path)
		}
	case *structpb.Value_StructValue:
		if n.kind == schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
			return n.decodeStruct(kind.StructValue, v, path)
		}
	}
	return &ArgumentError{path, fmt.Sprintf("must be %s, not %s", article(n.kind), nameOf(value))}
}

func (n *node) decodeString(s string, v reflect.Value, path string) error {
	if len(n.enum) > 0 && !slices.Contains(n.enum, s) {
		return &ArgumentError{path, fmt.Sprintf("must be one of %s, not %q", strings.Join(n.enum, ", "), clipped(s))}
	}
	switch {
	case n.text:
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
			return &ArgumentError{path, "is not right: " + clipped(err.Error())}
		}
	case v.IsValid():
		v.SetString(s)
	}
	return nil
}

func (n *node) decodeNumber(f float64, v reflect.Value, path string) error {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return &ArgumentError{path, "must be a finite number"}
	case n.integer && f != math.Trunc(f):
		return &ArgumentError{path, fmt.Sprintf("must be a whole number, not %v", f)}
	case n.minimum != nil && f < *n.minimum:
		return &ArgumentError{path, fmt.Sprintf("must be at least %g, not %v", *n.minimum, f)}
	case n.maximum != nil && f > *n.maximum:
		return &ArgumentError{path, fmt.Sprintf("must be at most %g, not %v", *n.maximum, f)}
	}
	if !setNumber(f, n.integer, v) {
		return &ArgumentError{path, fmt.Sprintf("is out of range: %v", f)}
	}
	return nil
}

// setNumber reports whether v has room for f. Beyond 2^53 a float64 is no longer one whole number.
func setNumber(f float64, integer bool, v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	if integer && math.Abs(f) > 1<<53 {
		return false
	}
	switch {
	case v.CanInt():
		if v.OverflowInt(int64(f)) {
			return false
		}
		v.SetInt(int64(f))
	case v.CanUint():
		if f < 0 || v.OverflowUint(uint64(f)) {
			return false
		}
		v.SetUint(uint64(f))
	default:
		if v.OverflowFloat(f) {
			return false
		}
		v.SetFloat(f)
	}
	return true
}

func (n *node) decodeList(values []*structpb.Value, v reflect.Value, path string) error {
	var list reflect.Value
	if v.IsValid() {
		list = reflect.MakeSlice(v.Type(), len(values), len(values))
		v.Set(list)
	}
	for i, value := range values {
		var element reflect.Value
		if list.IsValid() {
			element = list.Index(i)
		}
		if err := n.items.decode(value, element, path); err != nil {
			return at(err, path, i)
		}
	}
	return nil
}

// at says which element of the list at path an error is about. It is cheaper than saying so beforehand.
func at(err error, path string, i int) error {
	var wrong *ArgumentError
	if !errors.As(err, &wrong) {
		return err
	}
	return &ArgumentError{fmt.Sprintf("%s[%d]%s", path, i, strings.TrimPrefix(wrong.Argument, path)), wrong.Problem}
}

// shownBytes is how much of a caller's text an error repeats: enough to know it by.
const shownBytes = 200

func clipped(text string) string {
	if len(text) <= shownBytes {
		return text
	}
	return strings.ToValidUTF8(text[:shownBytes], "") + "…"
}

func join(path, name string) string {
	name = clipped(name)
	if name == "" {
		name = `""`
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func isNull(v *structpb.Value) bool {
	_, null := v.GetKind().(*structpb.Value_NullValue)
	return null || v.GetKind() == nil
}

func article(t schemav1.SchemaType) string {
	switch t {
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		return "an object"
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		return "a list"
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		return "true or false"
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		return "a number"
	default:
		return "a string"
	}
}

func nameOf(v *structpb.Value) string {
	switch v.GetKind().(type) {
	case *structpb.Value_StructValue:
		return "an object"
	case *structpb.Value_ListValue:
		return "a list"
	case *structpb.Value_BoolValue:
		return "a boolean"
	case *structpb.Value_NumberValue:
		return "a number"
	case *structpb.Value_StringValue:
		return "a string"
	default:
		return "null"
	}
}
