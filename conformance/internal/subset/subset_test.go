package subset

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// schemas draws schemas of the subset, objects at the top.
func schemas(t *rapid.T, level int) *schemav1.Schema {
	kinds := []schemav1.SchemaType{
		schemav1.SchemaType_SCHEMA_TYPE_STRING, schemav1.SchemaType_SCHEMA_TYPE_NUMBER, schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN,
		schemav1.SchemaType_SCHEMA_TYPE_ARRAY, schemav1.SchemaType_SCHEMA_TYPE_OBJECT,
	}
	if level == 3 {
		kinds = kinds[:3]
	}
	s := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT}
	if level > 0 {
		s.Type = rapid.SampledFrom(kinds).Draw(t, "type")
	}
	switch s.Type {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		s.EnumValues = rapid.SliceOfNDistinct(rapid.StringMatching("[a-z]{1,4}"), 0, 3, rapid.ID).Draw(t, "enum")
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		s.Items = schemas(t, level+1)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		s.Properties = map[string]*schemav1.Schema{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"path", "version", "url", "command", "limit"}), 0, 4, rapid.ID).Draw(t, "properties") {
			s.Properties[name] = schemas(t, level+1)
			if rapid.Bool().Draw(t, "required") {
				s.Required = append(s.Required, name)
			}
		}
	}
	return s
}

func TestWhatIsMadeUpFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schemas(t, 0)
		require.Empty(t, Conforms(s, structpb.NewStructValue(Valid(s))))
	})
}

func TestWhatIsSpoiltDoesNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schemas(t, 0)
		good := Valid(s)
		kept := proto.CloneOf(good)
		faults := map[Fault]int{}
		for _, wrong := range Spoil(s, good) {
			problems := Conforms(s, structpb.NewStructValue(wrong.Arguments))
			require.Len(t, problems, 1, "%s %s: one fault", wrong.Fault, wrong.Argument)
			require.Contains(t, problems[0], wrong.Argument)
			faults[wrong.Fault]++
		}
		require.True(t, proto.Equal(kept, good), "the good arguments stay good")
		require.Equal(t, len(s.GetRequired()), faults[Missing])
		require.Equal(t, len(s.GetProperties()), faults[Type])
		require.Equal(t, min(1, len(s.GetProperties())), faults[Unknown])
	})
}

func TestConforms(t *testing.T) {
	text := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING, EnumValues: []string{"a", "b"}}
	number := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER}
	list := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: text}
	s := &schemav1.Schema{
		Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Required: []string{"t"},
		Properties: map[string]*schemav1.Schema{"t": text, "n": number, "l": list, "o": {Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT}},
	}
	tests := []struct {
		name  string
		value map[string]any
		want  []string
	}{
		{"fits", map[string]any{"t": "a", "n": 1.5, "l": []any{"b"}, "o": map[string]any{"any": true}}, nil},
		{"missing", map[string]any{}, []string{"t is missing"}},
		{"null is no text", map[string]any{"t": nil}, []string{"t is no string"}},
		{"enum", map[string]any{"t": "c"}, []string{`t is "c", none of a, b`}},
		{"in a list", map[string]any{"t": "a", "l": []any{"a", "x"}}, []string{`l[1] is "x", none of a, b`}},
		{"no number", map[string]any{"t": "a", "n": math.Inf(1)}, []string{"n is a number that JSON does not have"}},
		{"a stranger", map[string]any{"t": "a", "x": 1}, []string{"x is not in the schema"}},
		{"several", map[string]any{"n": "1", "l": 2}, []string{"t is missing", "l is no list", "n is no number"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := structpb.NewStruct(test.value)
			require.NoError(t, err)
			require.Equal(t, test.want, Conforms(s, structpb.NewStructValue(v)))
		})
	}
	require.Equal(t, []string{"the value is no object"}, Conforms(s, structpb.NewNumberValue(1)))
	require.Empty(t, Conforms(nil, structpb.NewNumberValue(1)))
}

// A schema that holds itself over and over does not keep us busy for ever.
func TestDeepSchemas(t *testing.T) {
	deep := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING}
	for range 500 {
		deep = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Required: []string{"a"}, Properties: map[string]*schemav1.Schema{"a": deep}}
	}
	require.NotNil(t, Valid(deep))
}
