package schema

import (
	"math"
	"slices"
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
		{"two letters have changed places", "nwe", []string{"now", "new"}, "new"},
		{"the beginning", "jsonlines", []string{"cast", "jsonl"}, "jsonl"},
		{"half of it is another", "foo", []string{"hook"}, ""},
		{"half of a short one is another", "nope", []string{"copy", "filesystem.copy"}, ""},
		{"a word of it", "read", []string{"roar", "read_many_files", "read_file", "readme"}, "read_file"},
		{"a word of it, and one letter off another", "read", []string{"read_file", "read_file", "reads"}, "reads"},
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
		require.Equal(t, len(problems(&s, &v)) == 0, fits(&s, &v, 0), "the quick answer is another than the thorough one")
		rows := structpb.NewListValue(&structpb.ListValue{Values: slices.Repeat([]*structpb.Value{&v}, 9)})
		require.Equal(t, len(problems(list(&s), rows)) == 0, fits(list(&s), rows, 0), "of a long list")
	})
}

// TestLongLists are held to their schema like short ones.
func TestLongLists(t *testing.T) {
	rows := list(object([]string{"name"}, map[string]*schemav1.Schema{"name": text, "size": number, "more": nil}))
	good := func(i int) map[string]any { return map[string]any{"name": "a", "size": i, "more": []any{nil, "b"}} }
	tests := []struct {
		name string
		last any
		want string
	}{
		{"fits", good(9), ""},
		{"without what is optional", map[string]any{"name": "a"}, ""},
		{"missing", map[string]any{"size": 1}, `"[9].name" is missing (string, required)`},
		{"unknown", map[string]any{"name": "a", "colour": 1}, `"[9].colour" is not known`},
		{"unknown in the place of another", map[string]any{"name": "a", "siez": 1}, `"[9].siez" is not known (did you mean "size"?)`},
		{"wrong type", map[string]any{"name": 1}, `"[9].name" must be a string, not a number`},
		{"no number", map[string]any{"name": "a", "more": math.NaN()}, `"[9].more" must be a finite number`},
		{"no object", []any{}, `"[9]" must be an object, not a list`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var values []any
			for i := range 9 {
				values = append(values, good(i))
			}
			v, err := structpb.NewValue(append(values, test.last))
			require.NoError(t, err)
			require.Equal(t, test.want, Describe(Validate(rows, v)))
		})
	}
}

// BenchmarkValidate checks a result of 10,000 entries.
func BenchmarkValidate(b *testing.B) {
	rows := list(object([]string{"name", "path", "type"}, map[string]*schemav1.Schema{
		"name": text, "path": text, "type": text, "size": number, "mode": text, "modified": text, "link_target": text}))
	var entries []any
	for range 10_000 {
		entries = append(entries, map[string]any{"name": "entry-00001.txt", "path": "flat/entry-00001.txt", "type": "file", "size": 2,
			"mode": "0644", "modified": "2026-11-30T12:00:00Z"})
	}
	v, err := structpb.NewValue(entries)
	require.NoError(b, err)
	b.Run("with schema", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.Empty(b, Validate(rows, v))
		}
	})
	b.Run("without", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.Empty(b, Validate(nil, v))
		}
	})
	b.Run("thoroughly", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.Empty(b, problems(rows, v))
		}
	})
}

func TestValuesThatCannotTravel(t *testing.T) {
	deep := structpb.NewStringValue("leaf")
	for range 5000 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	tests := []struct {
		name  string
		value *structpb.Value
		want  string
	}{
		{"nothing", nil, `"a" has no value, not even null`},
		{"an empty message", &structpb.Value{}, `"a" has no value, not even null`},
		{"not a number", structpb.NewNumberValue(math.NaN()), `"a" must be a finite number`},
		{"bytes", structpb.NewStringValue("\xff"), `"a" must be text in UTF-8`},
		{"inside", structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(math.Inf(-1))}}), `"a[0]" must be a finite number`},
		{"a name of bytes", structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"\xff": structpb.NewNullValue()}}), `"a.\xff" must have a name in UTF-8`},
		{"too deep", deep, "is nested more than 1000 levels deep"},
		{"null", structpb.NewNullValue(), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args := &structpb.Struct{Fields: map[string]*structpb.Value{"a": test.value}}
			require.Equal(t, test.want, Describe(Arguments(nil, args)), "whatever the schema")
		})
	}
}

func TestObjectWithoutProperties(t *testing.T) {
	args, err := structpb.NewStruct(map[string]any{"env": map[string]any{"A": "1"}})
	require.NoError(t, err)
	require.Empty(t, Arguments(object(nil, map[string]*schemav1.Schema{"env": object(nil, nil)}), args), "takes whatever comes")
}

func TestProblemsAreBounded(t *testing.T) {
	items := make([]any, 100_000)
	args, err := structpb.NewStruct(map[string]any{"names": items})
	require.NoError(t, err)
	problems := Arguments(object(nil, map[string]*schemav1.Schema{"names": list(text)}), args)
	require.Len(t, problems, mostProblems+1)
	require.Equal(t, "and 99980 more problems", problems[mostProblems].String())
}

func TestWellFormed(t *testing.T) {
	deep := text
	for range 3000 {
		deep = list(deep)
	}
	tests := []struct {
		name   string
		schema *schemav1.Schema
		want   string
	}{
		{"none", nil, ""},
		{"no properties", object(nil, nil), ""},
		{"sound", object([]string{"a"}, map[string]*schemav1.Schema{"a": list(object(nil, map[string]*schemav1.Schema{"b": {}}))}), ""},
		{"not an object", text, "it must be of type object, not string"},
		{"a required name without property", object([]string{"ghost"}, nil), `"ghost" is required and not among its properties`},
		{"an unknown type", object(nil, map[string]*schemav1.Schema{"a": list(&schemav1.Schema{Type: 77})}), `"a[]" has a type this kernel does not know (77)`},
		{"too deep", object(nil, map[string]*schemav1.Schema{"a": deep}), "it is nested more than 100 levels deep"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := WellFormed(test.schema)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.want)
		})
	}
}
