package mcp

import (
	"encoding/json"
	"testing"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const (
	object = schemav1.SchemaType_SCHEMA_TYPE_OBJECT
	array  = schemav1.SchemaType_SCHEMA_TYPE_ARRAY
	str    = schemav1.SchemaType_SCHEMA_TYPE_STRING
)

func TestSchema(t *testing.T) {
	tests := []struct {
		name string
		in   *schemav1.Schema
		want string
	}{
		{"none (M03)", nil, `{"type":"object","properties":{}}`},
		{"an object without members (M03)", &schemav1.Schema{Type: object}, `{"type":"object","properties":{}}`},
		{"members", &schemav1.Schema{Type: object, Required: []string{"b"}, Properties: map[string]*schemav1.Schema{
			"a": {Type: str, Description: "An a.", EnumValues: []string{"x", "y"}}, "b": {Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER},
		}}, `{"type":"object","additionalProperties":false,"required":["b"],"properties":{"a":{"type":"string","description":"An a.","enum":["x","y"]},"b":{"type":"number"}}}`},
		{"a list", &schemav1.Schema{Type: array, Items: &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN}}, `{"type":"array","items":{"type":"boolean"}}`},
		{"a list of anything", &schemav1.Schema{Type: array}, `{"type":"array","items":{}}`},
		{"anything", &schemav1.Schema{}, `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := json.Marshal(jsonSchema(test.in))
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(got))
		})
	}
}

// anySchema draws a schema, sound or not, of a few levels.
func anySchema(depth int) *rapid.Generator[*schemav1.Schema] {
	return rapid.Custom(func(t *rapid.T) *schemav1.Schema {
		s := &schemav1.Schema{
			Type:        schemav1.SchemaType(rapid.IntRange(0, 5).Draw(t, "type")),
			Description: rapid.String().Draw(t, "description"),
			EnumValues:  rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "enum"),
			Required:    rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "required"),
		}
		if depth > 0 {
			s.Properties = rapid.MapOfN(rapid.String(), anySchema(depth-1), 0, 3).Draw(t, "properties")
			if rapid.Bool().Draw(t, "items") {
				s.Items = anySchema(depth-1).Draw(t, "element")
			}
		}
		return s
	})
}

// M03, M04: whatever a provider declares, a client gets a strict schema.
func TestSchemasAreStrict(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := anySchema(2).Draw(r, "schema")
		s.Type = object
		requireStrictSchema(t, jsonSchema(s))
	})
}
