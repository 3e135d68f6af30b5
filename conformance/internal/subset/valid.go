package subset

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// deepest bounds made-up values: a schema can be as deep as it likes.
const deepest = 20

// Valid makes up arguments that fit a schema: what is required and nothing else.
func Valid(s *schemav1.Schema) *structpb.Struct {
	return object(s, 0)
}

func object(s *schemav1.Schema, level int) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	if level > deepest {
		return out
	}
	for _, name := range s.GetRequired() {
		out.Fields[name] = value(name, s.GetProperties()[name], level+1)
	}
	return out
}

func value(name string, s *schemav1.Schema, level int) *structpb.Value {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		return structpb.NewStructValue(object(s, level))
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		list := &structpb.ListValue{}
		if level <= deepest {
			list.Values = []*structpb.Value{value(name, s.GetItems(), level+1)}
		}
		return structpb.NewListValue(list)
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		return structpb.NewNumberValue(1)
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		return structpb.NewBoolValue(false)
	default:
		if enum := s.GetEnumValues(); len(enum) > 0 {
			return structpb.NewStringValue(enum[0])
		}
		return structpb.NewStringValue(text(name))
	}
}

// text is a guess at what an argument of this name takes. None of them exists, so that little can happen.
func text(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "version"):
		return "0.0.1"
	case strings.Contains(name, "url"), strings.Contains(name, "uri"):
		return "http://127.0.0.1:9/conformance"
	case strings.Contains(name, "command"), strings.Contains(name, "script"):
		return "true"
	default:
		return "conformance"
	}
}

// With is a copy of arguments in which one has another value; nil takes it away.
func With(arguments *structpb.Struct, name string, v *structpb.Value) *structpb.Struct {
	out := proto.CloneOf(arguments)
	if out.GetFields() == nil {
		out = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	if v == nil {
		delete(out.Fields, name)
	} else {
		out.Fields[name] = v
	}
	return out
}
