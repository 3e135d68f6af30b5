package schema

import (
	"math"
	"slices"
	"unicode/utf8"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// fits reports whether a value has no problem, in one walk that names none and allocates nothing to speak of. Nearly every
// value fits, and a result can have a hundred thousand parts: only of one that does not is it worth finding out where.
func fits(s *schemav1.Schema, v *structpb.Value, level int) bool {
	if level > mostLevels {
		return false
	}
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_UNSPECIFIED:
		return fitsJSON(v, level)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		object, ok := v.GetKind().(*structpb.Value_StructValue)
		return ok && fitsObject(s, object.StructValue, level)
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		list, ok := v.GetKind().(*structpb.Value_ListValue)
		return ok && fitsList(s.GetItems(), list.ListValue.GetValues(), level)
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		text, ok := v.GetKind().(*structpb.Value_StringValue)
		enum := s.GetEnumValues()
		return ok && utf8.ValidString(text.StringValue) && (len(enum) == 0 || slices.Contains(enum, text.StringValue))
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		number, ok := v.GetKind().(*structpb.Value_NumberValue)
		return ok && finite(number.NumberValue)
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		_, ok := v.GetKind().(*structpb.Value_BoolValue)
		return ok
	default:
		return false
	}
}

func fitsObject(s *schemav1.Schema, object *structpb.Struct, level int) bool {
	if len(s.GetProperties()) == 0 {
		return fitsMembers(object, level)
	}
	for name, value := range object.GetFields() {
		property, known := s.GetProperties()[name]
		if !known || !fits(property, value, level+1) {
			return false
		}
	}
	for _, name := range s.GetRequired() {
		if _, ok := object.GetFields()[name]; !ok {
			return false
		}
	}
	return true
}

func fitsList(items *schemav1.Schema, values []*structpb.Value, level int) bool {
	if len(values) > 8 && items.GetType() == schemav1.SchemaType_SCHEMA_TYPE_OBJECT && len(items.GetProperties()) > 0 {
		return fitsRows(items, values, level+1)
	}
	for _, v := range values {
		if !fits(items, v, level+1) {
			return false
		}
	}
	return true
}

// fitsRows is for a long list of objects: to look up what is known in each is quicker than to look up in what is known
// whatever each has.
func fitsRows(items *schemav1.Schema, rows []*structpb.Value, level int) bool {
	type column struct {
		name     string
		schema   *schemav1.Schema
		required bool
	}
	for _, name := range items.GetRequired() {
		if _, known := items.GetProperties()[name]; !known {
			return false // who has it has what is unknown
		}
	}
	columns := make([]column, 0, len(items.GetProperties()))
	for name, schema := range items.GetProperties() {
		columns = append(columns, column{name, schema, slices.Contains(items.GetRequired(), name)})
	}
	for _, row := range rows {
		object, ok := row.GetKind().(*structpb.Value_StructValue)
		if !ok {
			return false
		}
		fields, found := object.StructValue.GetFields(), 0
		for i := range columns {
			c := &columns[i]
			value, ok := fields[c.name]
			if ok {
				found++
			}
			if ok && !fits(c.schema, value, level+1) || !ok && c.required {
				return false
			}
		}
		if found != len(fields) {
			return false
		}
	}
	return true
}

// fitsJSON is fits for what no schema describes.
func fitsJSON(v *structpb.Value, level int) bool {
	if level > mostLevels {
		return false
	}
	switch kind := v.GetKind().(type) {
	case nil:
		return false
	case *structpb.Value_NumberValue:
		return finite(kind.NumberValue)
	case *structpb.Value_StringValue:
		return utf8.ValidString(kind.StringValue)
	case *structpb.Value_ListValue:
		for _, item := range kind.ListValue.GetValues() {
			if !fitsJSON(item, level+1) {
				return false
			}
		}
	case *structpb.Value_StructValue:
		return fitsMembers(kind.StructValue, level)
	}
	return true
}

func fitsMembers(object *structpb.Struct, level int) bool {
	for name, value := range object.GetFields() {
		if !utf8.ValidString(name) || !fitsJSON(value, level+1) {
			return false
		}
	}
	return true
}

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
