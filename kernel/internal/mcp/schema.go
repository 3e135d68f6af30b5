package mcp

import (
	"maps"
	"slices"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// jsonSchema is a schema in JSON Schema 2020-12, in the form that the strictest clients take: an object always has
// properties, a list always has items, and nothing is null. A nil schema is an object that takes whatever comes.
func jsonSchema(s *schemav1.Schema) map[string]any {
	if s == nil {
		return map[string]any{"type": "object", "properties": map[string]any{}}
	}
	out := map[string]any{}
	if s.GetDescription() != "" {
		out["description"] = s.GetDescription()
	}
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		out["type"] = "object"
		describeMembers(out, s)
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		out["type"] = "array"
		out["items"] = map[string]any{}
		if s.GetItems() != nil {
			out["items"] = jsonSchema(s.GetItems())
		}
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		out["type"] = "string"
		if values := s.GetEnumValues(); len(values) > 0 {
			out["enum"] = slices.Compact(slices.Sorted(slices.Values(values)))
		}
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		out["type"] = "number"
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		out["type"] = "boolean"
	}
	return out
}

// describeMembers says what an object holds. One that names its members has no others.
func describeMembers(out map[string]any, s *schemav1.Schema) {
	properties := map[string]any{}
	for name, property := range s.GetProperties() {
		properties[name] = jsonSchema(property)
	}
	out["properties"] = properties
	if len(properties) > 0 {
		out["additionalProperties"] = false
	}
	if required := slices.Compact(slices.Sorted(slices.Values(s.GetRequired()))); len(required) > 0 {
		out["required"] = required
	}
}

// argumentNames are the members of an object, the required ones first, as its author ordered them.
func argumentNames(s *schemav1.Schema) []string {
	var names []string
	for _, name := range s.GetRequired() {
		if _, there := s.GetProperties()[name]; there && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.GetProperties())) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
