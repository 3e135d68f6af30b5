package schema_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/agentco/agent/sdk/internal/schema"
)

type edit struct {
	Old string `json:"old"`
	All bool   `json:"all,omitempty"`
}

type arguments struct {
	Path  string   `json:"path" doc:"Where."`
	Limit int      `json:"limit" default:"2000" min:"1" max:"5000"`
	Mode  string   `json:"mode" enum:"files,count" default:"files"`
	Ratio *float64 `json:"ratio"`
	Edits []edit   `json:"edits,omitempty"`
	Small int8     `json:"small,omitempty"`
	Count uint     `json:"count,omitempty"`
	_     int
}

func typeOf[T any](t *testing.T) *schema.Type {
	t.Helper()
	got, err := schema.Of(reflect.TypeFor[T]())
	require.NoError(t, err)
	return got
}

func parse(t testing.TB, text string) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	require.NoError(t, protojson.Unmarshal([]byte(text), s))
	return s
}

func TestSchemaSaysWhatTheStructSays(t *testing.T) {
	want := &schemav1.Schema{}
	require.NoError(t, protojson.Unmarshal([]byte(`{
		"type": "SCHEMA_TYPE_OBJECT",
		"required": ["path"],
		"properties": {
			"path":  {"type": "SCHEMA_TYPE_STRING", "description": "Where."},
			"limit": {"type": "SCHEMA_TYPE_NUMBER", "description": "(default 2000; from 1 to 5000)"},
			"mode":  {"type": "SCHEMA_TYPE_STRING", "enumValues": ["files", "count"], "description": "(default files)"},
			"ratio": {"type": "SCHEMA_TYPE_NUMBER"},
			"small": {"type": "SCHEMA_TYPE_NUMBER"},
			"count": {"type": "SCHEMA_TYPE_NUMBER"},
			"edits": {"type": "SCHEMA_TYPE_ARRAY", "items": {
				"type": "SCHEMA_TYPE_OBJECT", "required": ["old"],
				"properties": {"old": {"type": "SCHEMA_TYPE_STRING"}, "all": {"type": "SCHEMA_TYPE_BOOLEAN"}}
			}}
		}
	}`), want))
	require.Empty(t, cmp.Diff(want, typeOf[arguments](t).Schema, protocmp.Transform()))
}

func TestDecodeTakesWhatFits(t *testing.T) {
	half := 0.5
	for _, test := range []struct {
		name, in string
		want     arguments
	}{
		{"only what is required", `{"path": "x"}`, arguments{Path: "x", Limit: 2000, Mode: "files"}},
		{"everything", `{"path": "x", "limit": 3, "mode": "count", "ratio": 0.5, "edits": [{"old": "a", "all": true}, {"old": ""}]}`,
			arguments{Path: "x", Limit: 3, Mode: "count", Ratio: &half, Edits: []edit{{"a", true}, {"", false}}}},
		{"null is absence", `{"path": "x", "limit": null, "ratio": null}`, arguments{Path: "x", Limit: 2000, Mode: "files"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got arguments
			require.NoError(t, typeOf[arguments](t).Decode(parse(t, test.in), &got))
			require.Equal(t, test.want, got)
		})
	}
}

func TestDecodeNamesTheArgumentThatDoesNotFit(t *testing.T) {
	for _, test := range []struct{ name, in, argument, want string }{
		{"missing", `{}`, "path", "argument path is required"},
		{"null for a required one", `{"path": null}`, "path", "argument path must be a string, not null"},
		{"unknown", `{"path": "x", "limt": 1}`, "limt", "argument limt is not known; did you mean limit?"},
		{"unknown and far", `{"path": "x", "zzzzzzzz": 1}`, "zzzzzzzz", "argument zzzzzzzz is not known; there are count, edits, limit, mode, path, ratio, small"},
		{"a word that is no field", `{"path": "x", "local": 1}`, "local", "argument local is not known; there are count, edits, limit, mode, path, ratio, small"},
		{"wrong type", `{"path": 7}`, "path", "argument path must be a string, not a number"},
		{"fraction", `{"path": "x", "limit": 1.5}`, "limit", "argument limit must be a whole number, not 1.5"},
		{"too small", `{"path": "x", "limit": 0}`, "limit", "argument limit must be at least 1, not 0"},
		{"too large", `{"path": "x", "limit": 5001}`, "limit", "argument limit must be at most 5000, not 5001"},
		{"out of range", `{"path": "x", "small": 200}`, "small", "argument small is out of range: 200"},
		{"negative for unsigned", `{"path": "x", "count": -1}`, "count", "argument count is out of range: -1"},
		{"beyond any integer", `{"path": "x", "count": 1e300}`, "count", "argument count is out of range: 1e+300"},
		{"not in the enum", `{"path": "x", "mode": "all"}`, "mode", `argument mode must be one of files, count, not "all"`},
		{"inside a list", `{"path": "x", "edits": [{"old": "a"}, {"old": 1}]}`, "edits[1].old", "argument edits[1].old must be a string, not a number"},
		{"missing inside a list", `{"path": "x", "edits": [{}]}`, "edits[0].old", "argument edits[0].old is required"},
		{"object for a list", `{"path": "x", "edits": {}}`, "edits", "argument edits must be a list, not an object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got arguments
			err := typeOf[arguments](t).Decode(parse(t, test.in), &got)
			var argument *schema.ArgumentError
			require.ErrorAs(t, err, &argument)
			require.Equal(t, test.argument, argument.Argument)
			require.EqualError(t, err, test.want)
		})
	}
}

func TestEncodeAndDecodeAgree(t *testing.T) {
	half := 0.5
	in := arguments{Path: "x", Limit: 3, Mode: "count", Ratio: &half, Edits: []edit{{"a", true}}, Small: -3, Count: 9}
	encoded, err := typeOf[arguments](t).Encode(in)
	require.NoError(t, err)
	var out arguments
	require.NoError(t, typeOf[arguments](t).Decode(encoded, &out))
	require.Equal(t, in, out)
}

func TestEncodeKeepsTheWireWhole(t *testing.T) {
	type result struct {
		Text  string   `json:"text"`
		Names []string `json:"names"`
		Note  string   `json:"note,omitempty"`
		Rate  float64  `json:"rate"`
	}
	encoded, err := typeOf[result](t).Encode(result{Text: "a\xffb"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"text": "a\uFFFDb", "names": []any{}, "rate": 0.0}, encoded.AsMap())

	zero := 0.0
	_, err = typeOf[result](t).Encode(result{Rate: 1 / zero})
	require.EqualError(t, err, "rate: +Inf has no form in JSON")
}

type recursive struct {
	Children []recursive `json:"children"`
}

func TestOfRefusesWhatTheSubsetCannotSay(t *testing.T) {
	for _, test := range []struct {
		name string
		of   reflect.Type
		want string
	}{
		{"not a struct", reflect.TypeFor[string](), "string is not a struct"},
		{"a map", reflect.TypeFor[struct {
			M map[string]string `json:"m"`
		}](), "cannot be described"},
		{"no name", reflect.TypeFor[struct{ Name string }](), "has no json tag"},
		{"recursion", reflect.TypeFor[recursive](), "holds itself"},
		{"one name twice", reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
			{Name: "B", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
		}), `are named "a"`},
		{"a default of another type", reflect.TypeFor[struct {
			N int `json:"n" default:"many"`
		}](), "does not fit"},
		{"an enum of numbers", reflect.TypeFor[struct {
			N int `json:"n" enum:"1,2"`
		}](), "enum tag needs a string"},
		{"a bound that is no number", reflect.TypeFor[struct {
			N int `json:"n" min:"one"`
		}](), "is not a number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := schema.Of(test.of)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"path": "x", "limit": 3, "edits": [{"old": "a"}]}`))
	f.Add([]byte(`{"path": null, "edits": [null, 1e309]}`))
	shape, err := schema.Of(reflect.TypeFor[arguments]())
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		in := &structpb.Struct{}
		if protojson.Unmarshal(text, in) != nil {
			return
		}
		var once, twice arguments
		if shape.Decode(in, &once) != nil {
			return
		}
		encoded, err := shape.Encode(once)
		require.NoError(t, err)
		require.NoError(t, shape.Decode(encoded, &twice))
		if !reflect.DeepEqual(once, twice) {
			// An empty optional list is left out, which reads as none.
			require.Empty(t, once.Edits)
			once.Edits, twice.Edits = nil, nil
			require.Equal(t, once, twice)
		}
	})
}
