package schema

import (
	"math"
	"testing"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

var (
	text    = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING}
	number  = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER}
	boolean = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN}
	mode    = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING, EnumValues: []string{"files", "content", "count"}}
)

func object(required []string, properties map[string]*schemav1.Schema) *schemav1.Schema {
	return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Required: required, Properties: properties}
}

func list(of *schemav1.Schema) *schemav1.Schema {
	return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: of}
}

func TestArguments(t *testing.T) {
	edits := list(object([]string{"old_string"}, map[string]*schemav1.Schema{"old_string": text, "all": boolean}))
	s := object([]string{"path"}, map[string]*schemav1.Schema{"path": text, "limit": number, "mode": mode, "edits": edits, "dry": boolean})
	tests := []struct {
		name string
		args map[string]any
		want string
	}{
		{"fits", map[string]any{"path": "x", "limit": 1.5, "mode": "count", "dry": true, "edits": []any{map[string]any{"old_string": "a", "all": false}}}, ""},
		{"missing", map[string]any{}, `"path" is missing (string, required)`},
		{"unknown, near", map[string]any{"path": "x", "lmit": 3}, `"lmit" is not known (did you mean "limit"?)`},
		{"unknown, far", map[string]any{"path": "x", "colour": 3}, `"colour" is not known`},
		{"wrong type", map[string]any{"path": 7}, `"path" must be a string, not a number`},
		{"null", map[string]any{"path": nil}, `"path" must be a string, not null`},
		{"a string for a number", map[string]any{"path": "x", "limit": "3"}, `"limit" must be a number, not a string`},
		{"a number for a boolean", map[string]any{"path": "x", "dry": 1}, `"dry" must be true or false, not a number`},
		{"no number", map[string]any{"path": "x", "limit": math.Inf(1)}, `"limit" must be a finite number`},
		{"enum", map[string]any{"path": "x", "mode": "contents"}, `"mode" must be one of files, content, count, not "contents" (did you mean "content"?)`},
		{"an object for a list", map[string]any{"path": "x", "edits": map[string]any{}}, `"edits" must be a list, not an object`},
		{"deep inside", map[string]any{"path": "x", "edits": []any{map[string]any{"old_string": "a"}, map[string]any{"all": "yes"}}},
			`"edits[1].all" must be true or false, not a string; "edits[1].old_string" is missing (string, required)`},
		{"several, in order", map[string]any{"b": 1, "a": 2}, `"a" is not known; "b" is not known; "path" is missing (string, required)`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args, err := structpb.NewStruct(test.args)
			require.NoError(t, err)
			require.Equal(t, test.want, Describe(Arguments(s, args)))
		})
	}
}

func TestArgumentsWithoutSchemaOrValue(t *testing.T) {
	require.Empty(t, Arguments(nil, &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewBoolValue(true)}}))
	require.Empty(t, Arguments(object(nil, nil), nil))
	require.Equal(t, `"path" is missing (string, required)`, Describe(Arguments(object([]string{"path"}, map[string]*schemav1.Schema{"path": text}), nil)))
	require.Equal(t, "must be an object, not a list", Describe(Validate(object(nil, nil), structpb.NewListValue(&structpb.ListValue{}))))
}

func TestNearest(t *testing.T) {
	tests := []struct {
		name, word string
		among      []string
		want       string
	}{
		{"one letter off", "read_fil", []string{"write_file", "read_file"}, "read_file"},
		{"nothing near", "banana", []string{"write_file", "read_file"}, ""},
		{"empty", "", []string{"a"}, ""},
		{"one letter is not a misspelling of another", "x", []string{"y"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, Nearest(test.word, test.among)) })
	}
}

func TestTypeName(t *testing.T) {
	require.Equal(t, "list of list of number", TypeName(list(list(number))))
	require.Equal(t, "any value", TypeName(nil))
}

func FuzzValidate(f *testing.F) {
	seed, err := proto.Marshal(structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"path": structpb.NewNumberValue(1)}}))
	require.NoError(f, err)
	schemaSeed, err := proto.Marshal(object([]string{"path"}, map[string]*schemav1.Schema{"path": text}))
	require.NoError(f, err)
	f.Add(schemaSeed, seed)
	f.Fuzz(func(t *testing.T, schemaBytes, valueBytes []byte) {
		var s schemav1.Schema
		var v structpb.Value
		if proto.Unmarshal(schemaBytes, &s) != nil || proto.Unmarshal(valueBytes, &v) != nil {
			t.Skip()
		}
		first := Validate(&s, &v)
		require.Equal(t, first, Validate(&s, &v))
	})
}
