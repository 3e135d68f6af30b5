package subset

import (
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// Fault is what is wrong with spoilt arguments.
type Fault string

// Faults.
const (
	Missing Fault = "missing"
	Type    Fault = "type"
	Enum    Fault = "enum"
	Unknown Fault = "unknown"
	Number  Fault = "number"
)

// Spoilt are arguments with one fault.
type Spoilt struct {
	Fault     Fault
	Argument  string
	Arguments *structpb.Struct
}

// Stranger is the name of an argument that no schema has.
const Stranger = "conformance_unknown"

// Spoil gives every way to spoil arguments that fit a schema in one of its own properties. An object without properties
// takes whatever comes, so it knows no strangers.
func Spoil(s *schemav1.Schema, good *structpb.Struct) (out []Spoilt) {
	for _, name := range s.GetRequired() {
		out = append(out, Spoilt{Missing, name, With(good, name, nil)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.GetProperties())) {
		property := s.GetProperties()[name]
		if wrong := otherType(property); wrong != nil {
			out = append(out, Spoilt{Type, name, With(good, name, wrong)})
		}
		if property.GetType() == schemav1.SchemaType_SCHEMA_TYPE_STRING && len(property.GetEnumValues()) > 0 {
			out = append(out, Spoilt{Enum, name, With(good, name, structpb.NewStringValue(outside(property.GetEnumValues())))})
		}
		if property.GetType() == schemav1.SchemaType_SCHEMA_TYPE_NUMBER {
			out = append(out, Spoilt{Number, name, With(good, name, structpb.NewNumberValue(math.NaN()))})
		}
	}
	if len(s.GetProperties()) > 0 && s.GetProperties()[Stranger] == nil {
		out = append(out, Spoilt{Unknown, Stranger, With(good, Stranger, structpb.NewStringValue("conformance"))})
	}
	return out
}

// otherType is a value that does not have the type; nil when the type takes anything.
func otherType(s *schemav1.Schema) *structpb.Value {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_UNSPECIFIED:
		return nil
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		return structpb.NewNumberValue(7)
	default:
		return structpb.NewStringValue("conformance")
	}
}

func outside(enum []string) string {
	candidate := "conformance"
	for slices.Contains(enum, candidate) {
		candidate += "_"
	}
	return candidate
}

// AnyText reports a string that may be anything.
func AnyText(s *schemav1.Schema) bool {
	return s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_STRING && len(s.GetEnumValues()) == 0
}
