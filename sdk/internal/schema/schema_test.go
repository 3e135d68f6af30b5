package schema_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

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

func typeOf[T any](t testing.TB) *schema.Type {
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
		}](), "default tag many is not JSON"},
		{"a default out of bounds", reflect.TypeFor[struct {
			N int `json:"n" default:"2" min:"5"`
		}](), "default tag 2 does not fit: it must be at least 5, not 2"},
		{"a tag that package reflect does not read", reflect.StructOf([]reflect.StructField{
			{Name: "S", Type: reflect.TypeFor[string](), Tag: `json:s`},
		}), "the tag `json:s` is malformed"},
		{"a secret", reflect.TypeFor[struct {
			S string `json:"s" sensitive:"true"`
		}](), "a sensitive tag means nothing here: arguments and results are shown"},
		{"a tag of other libraries", reflect.TypeFor[struct {
			S string `json:"s" description:"Says it."`
		}](), "a description tag means nothing here: the key is doc"},
		{"an enum of nothing", reflect.TypeFor[struct {
			S string `json:"s" enum:""`
		}](), "it has no value, or one twice"},
		{"an enum with a value twice", reflect.TypeFor[struct {
			S string `json:"s" enum:"a,b,a"`
		}](), "it has no value, or one twice"},
		{"an enum of numbers", reflect.TypeFor[struct {
			N int `json:"n" enum:"1,2"`
		}](), "enum tag needs a string"},
		{"an embedded pointer", reflect.TypeFor[struct{ *edit }](), "not a pointer"},
		{"an embedded string", reflect.TypeFor[struct{ Word }](), "has no json tag"},
		{"an embedded text", reflect.TypeFor[struct{ time.Time }](), "is a text and no object"},
		{"an option that encoding/json has", reflect.TypeFor[struct {
			N int `json:"n,string"`
		}](), `not "string"`},
		{"an option that nobody has", reflect.StructOf([]reflect.StructField{
			{Name: "N", Type: reflect.TypeFor[int](), Tag: `json:"n,omitemtpy"`},
		}), `not "omitemtpy"`},
		{"a tag that nobody sees", reflect.StructOf([]reflect.StructField{
			{Name: "n", PkgPath: "p", Type: reflect.TypeFor[int](), Tag: `json:"n"`},
		}), "is not exported"},
		{"a name with a space", reflect.TypeFor[struct {
			N int `json:"line count"`
		}](), `the json name "line count" cannot be written`},
		{"a name with an equals sign", reflect.TypeFor[struct {
			N int `json:"n=1"`
		}](), `the json name "n=1" cannot be written`},
		{"a name like a flag", reflect.TypeFor[struct {
			N int `json:"-n"`
		}](), `the json name "-n" cannot be written`},
		{"a name like a path, in a list", reflect.TypeFor[struct {
			L []struct {
				N int `json:"a.b"`
			} `json:"l"`
		}](), `the json name "a.b" cannot be written`},
		{"a struct that hides everything", reflect.TypeFor[struct {
			Lock sync.Mutex `json:"lock"`
		}](), "has no field that would be seen"},
		{"a number that is a text", reflect.TypeFor[struct {
			N json.Number `json:"n"`
		}](), "would be a string"},
		{"an enum with spaces", reflect.TypeFor[struct {
			S string `json:"s" enum:"a, b"`
		}](), "no spaces"},
		{"bounds without a number between them", reflect.TypeFor[struct {
			N int `json:"n" min:"2" max:"1"`
		}](), "no number is at least 2 and at most 1"},
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

// Word is a string that can be embedded.
type Word string

// Hidden has a field that nobody may see.
type Hidden struct {
	Inner string `json:"inner"`
}

// TestEmbeddedStructsAreReadAsEncodingJSONReadsThem: promoted without a tag, a member of their own with one, and left out
// with "-".
func TestEmbeddedStructsAreReadAsEncodingJSONReadsThem(t *testing.T) {
	type promoted struct{ Hidden }
	type named struct {
		Hidden `json:"hidden"`
		Word   `json:"word"`
	}
	type left struct {
		Hidden `json:"-"`
		Name   string `json:"name"`
	}
	for _, test := range []struct {
		name string
		of   any
	}{
		{"promoted", promoted{Hidden{"x"}}}, {"named", named{Hidden{"x"}, "w"}}, {"left out", left{Hidden{"x"}, "n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			shape, err := schema.Of(reflect.TypeOf(test.of))
			require.NoError(t, err)
			got, err := shape.Encode(test.of)
			require.NoError(t, err)
			text, err := json.Marshal(test.of)
			require.NoError(t, err)
			require.JSONEq(t, string(text), protojson.Format(got))
			back := reflect.New(reflect.TypeOf(test.of))
			require.NoError(t, shape.Decode(got, back.Interface()))
		})
	}
}

func TestTextsOfPointerMethods(t *testing.T) {
	type sums struct {
		Total *big.Int  `json:"total"`
		Each  []big.Int `json:"each"`
	}
	in := sums{Total: big.NewInt(1 << 60), Each: []big.Int{*big.NewInt(-7)}}
	encoded, err := typeOf[sums](t).Encode(in)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"total": "1152921504606846976", "each": []any{"-7"}}, encoded.AsMap())
	var out sums
	require.NoError(t, typeOf[sums](t).Decode(encoded, &out))
	require.Equal(t, in, out)
}

func TestFreeObjectsSurviveOrAreRefused(t *testing.T) {
	type free struct {
		M map[string]any `json:"m"`
	}
	deep := map[string]any{}
	for range 1000 {
		deep = map[string]any{"d": []any{deep}}
	}
	for _, test := range []struct {
		name string
		in   map[string]any
		want string // an error, or nothing
	}{
		{"nil", nil, ""},
		{"plain values", map[string]any{"a": []any{1, "x\xff", nil, true}, "b": map[string]int{"c": 1 << 53}, "d": 1e20, "e": 0.1}, ""},
		{"a long number", map[string]any{"a": []any{map[string]any{"b": int64(1<<53 + 1)}}}, "m: a: [0]: b: 9007199254740993 is beyond 2^53"},
		{"NaN", map[string]any{"a": math.NaN()}, "unsupported value"},
		{"too deep", deep, "m: it is nested more than 1000 levels deep"},
	} {
		t.Run(test.name, func(t *testing.T) {
			encoded, err := typeOf[free](t).Encode(free{test.in})
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			var out free
			require.NoError(t, typeOf[free](t).Decode(encoded, &out))
			require.Len(t, out.M, len(test.in))
		})
	}
}

func TestErrorsRepeatLittleOfWhatIsLong(t *testing.T) {
	long := strings.Repeat("long", 1<<18)
	type dated struct {
		At   time.Time `json:"at"`
		Mode string    `json:"mode" enum:"files,count"`
	}
	for _, in := range []map[string]any{
		{long: 1}, {"at": long}, {"at": "2026-01-02T03:04:05Z", "mode": long},
	} {
		s, err := structpb.NewStruct(in)
		require.NoError(t, err)
		var argument *schema.ArgumentError
		require.ErrorAs(t, typeOf[dated](t).Decode(s, &dated{}), &argument)
		require.Less(t, len(argument.Error()), 600)
		require.Less(t, len(argument.Argument), 600)
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
