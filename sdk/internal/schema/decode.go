package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
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

// Decode fills the struct that into points to from the members of s. The error is an *ArgumentError.
func (t *Type) Decode(s *structpb.Struct, into any) error {
	return t.node.decodeStruct(s, reflect.ValueOf(into).Elem(), "")
}

// Defaults fills a new struct with the values of its default tags.
func (t *Type) Defaults(into any) { t.node.applyDefaults(reflect.ValueOf(into).Elem()) }

func (n *node) applyDefaults(v reflect.Value) {
	for i := range n.fields {
		f := &n.fields[i]
		if f.fallback != nil {
			// A default that does not parse was refused when the type was read.
			_ = f.setDefault(v.FieldByIndex(f.index))
		}
	}
}

func (n *node) decodeStruct(s *structpb.Struct, v reflect.Value, path string) error {
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
		target := v.FieldByIndex(f.index)
		switch {
		case present:
			if err := f.node.decode(value, target, join(path, f.name)); err != nil {
				return err
			}
		case f.fallback != nil:
			if err := f.setDefault(target); err != nil {
				return err
			}
		case !f.optional:
			return &ArgumentError{join(path, f.name), "is required"}
		}
	}
	return nil
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
			v.SetBool(kind.BoolValue)
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
		return &ArgumentError{path, fmt.Sprintf("must be one of %s, not %q", strings.Join(n.enum, ", "), s)}
	}
	v.SetString(s)
	return nil
}

func (n *node) decodeNumber(f float64, v reflect.Value, path string) error {
	switch {
	case n.integer && f != math.Trunc(f):
		return &ArgumentError{path, fmt.Sprintf("must be a whole number, not %v", f)}
	case n.minimum != nil && f < *n.minimum:
		return &ArgumentError{path, fmt.Sprintf("must be at least %g, not %v", *n.minimum, f)}
	case n.maximum != nil && f > *n.maximum:
		return &ArgumentError{path, fmt.Sprintf("must be at most %g, not %v", *n.maximum, f)}
	case math.IsNaN(f) || math.IsInf(f, 0):
		return &ArgumentError{path, "must be a finite number"}
	}
	switch {
	case v.CanInt():
		// float64(1<<63) is the first value that int64 has no room for.
		if f < -(1<<63) || f >= 1<<63 || v.OverflowInt(int64(f)) {
			return &ArgumentError{path, fmt.Sprintf("is out of range: %v", f)}
		}
		v.SetInt(int64(f))
	case v.CanUint():
		if f < 0 || f >= 1<<64 || v.OverflowUint(uint64(f)) {
			return &ArgumentError{path, fmt.Sprintf("is out of range: %v", f)}
		}
		v.SetUint(uint64(f))
	default:
		v.SetFloat(f)
	}
	return nil
}

func (n *node) decodeList(values []*structpb.Value, v reflect.Value, path string) error {
	list := reflect.MakeSlice(v.Type(), len(values), len(values))
	for i, value := range values {
		if err := n.items.decode(value, list.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

// setDefault parses the default tag: the plain text for a string, JSON for everything else.
func (f *field) setDefault(v reflect.Value) error {
	text := *f.fallback
	if f.node.kind == schemav1.SchemaType_SCHEMA_TYPE_STRING {
		text = strconv.Quote(text)
	}
	if err := json.Unmarshal([]byte(text), v.Addr().Interface()); err != nil {
		return fmt.Errorf("default tag %s does not fit: %w", text, err)
	}
	return nil
}

func join(path, name string) string {
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
