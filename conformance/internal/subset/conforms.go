// Package subset works with the JSON-Schema subset of the protocol: it checks values against a schema, makes up values
// that fit one, and spoils them in one place at a time.
package subset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// Conforms gives the places where a value does not fit a schema, in a stable order. A nil schema takes anything.
func Conforms(s *schemav1.Schema, v *structpb.Value) []string {
	var c conformity
	c.value("", s, v)
	return c.problems
}

type conformity struct{ problems []string }

func (c *conformity) add(path, format string, args ...any) {
	if path == "" {
		path = "the value"
	}
	c.problems = append(c.problems, path+" "+fmt.Sprintf(format, args...))
}

func (c *conformity) value(path string, s *schemav1.Schema, v *structpb.Value) {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		c.object(path, s, v)
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		list, ok := v.GetKind().(*structpb.Value_ListValue)
		if !ok {
			c.add(path, "is no list")
			return
		}
		for i, item := range list.ListValue.GetValues() {
			c.value(fmt.Sprintf("%s[%d]", path, i), s.GetItems(), item)
		}
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		text, ok := v.GetKind().(*structpb.Value_StringValue)
		switch {
		case !ok:
			c.add(path, "is no string")
		case len(s.GetEnumValues()) > 0 && !slices.Contains(s.GetEnumValues(), text.StringValue):
			c.add(path, "is %q, none of %s", text.StringValue, strings.Join(s.GetEnumValues(), ", "))
		}
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		number, ok := v.GetKind().(*structpb.Value_NumberValue)
		switch {
		case !ok:
			c.add(path, "is no number")
		case math.IsNaN(number.NumberValue) || math.IsInf(number.NumberValue, 0):
			c.add(path, "is a number that JSON does not have")
		}
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		if _, ok := v.GetKind().(*structpb.Value_BoolValue); !ok {
			c.add(path, "is no boolean")
		}
	}
}

func (c *conformity) object(path string, s *schemav1.Schema, v *structpb.Value) {
	object, ok := v.GetKind().(*structpb.Value_StructValue)
	if !ok {
		c.add(path, "is no object")
		return
	}
	fields := object.StructValue.GetFields()
	for _, name := range s.GetRequired() {
		if fields[name] == nil {
			c.add(join(path, name), "is missing")
		}
	}
	if len(s.GetProperties()) == 0 {
		return // it takes whatever comes
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if property := s.GetProperties()[name]; property != nil {
			c.value(join(path, name), property, fields[name])
		} else {
			c.add(join(path, name), "is not in the schema")
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
