package schema_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/agentco/agent/sdk/internal/schema"
)

type rich struct {
	At    time.Time      `json:"at,omitempty"`
	Free  map[string]any `json:"free,omitempty"`
	Count uint64         `json:"count,omitempty"`
	Big   int64          `json:"big,omitempty"`
	Mode  string         `json:"mode,omitempty" enum:"a,b"`
	List  []*edit        `json:"list,omitempty"`
	Small float32        `json:"small,omitempty"`
	Tags  []string       `json:"tags" default:"[\"x\"]"`
}

func TestFormsThatGoBothWays(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     rich
	}{
		{"a text type", `{"at": "2026-11-30T01:02:03Z"}`, rich{At: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC), Tags: []string{"x"}}},
		{"an object of anything", `{"free": {"a": [1, null, {"b": true}]}}`, rich{Free: map[string]any{"a": []any{1.0, nil, map[string]any{"b": true}}}, Tags: []string{"x"}}},
		{"the largest whole numbers", `{"count": 9007199254740992, "big": -9007199254740992}`, rich{Count: 1 << 53, Big: -1 << 53, Tags: []string{"x"}}},
		{"a list of pointers", `{"list": [{"old": "a"}]}`, rich{List: []*edit{{Old: "a"}}, Tags: []string{"x"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			shape := typeOf[rich](t)
			var got, again rich
			require.NoError(t, shape.Decode(parse(t, test.in), &got))
			require.Equal(t, test.want, got)
			encoded, err := shape.Encode(got)
			require.NoError(t, err)
			require.NoError(t, shape.Decode(encoded, &again))
			require.Equal(t, got, again)
		})
	}
}

func TestADefaultIsNotSharedBetweenCalls(t *testing.T) {
	var one, two rich
	shape := typeOf[rich](t)
	require.NoError(t, shape.Decode(parse(t, `{}`), &one))
	one.Tags[0] = "changed"
	require.NoError(t, shape.Decode(parse(t, `{}`), &two))
	require.Equal(t, []string{"x"}, two.Tags)
}

func TestDecodeRefusesWhatWouldNotSurvive(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"a whole number beyond what is exact", `{"big": 9007199254740994}`, "argument big is out of range: 9.007199254740994e+15"},
		{"a text that does not parse", `{"at": "noon"}`, "argument at is not right: "},
		{"a float that does not fit", `{"small": 1e300}`, "argument small is out of range: 1e+300"},
		{"null in a list", `{"list": [null]}`, "argument list[0] must be an object, not null"},
		{"a list for an object of anything", `{"free": []}`, "argument free must be an object, not a list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.ErrorContains(t, typeOf[rich](t).Decode(parse(t, test.in), &rich{}), test.want)
		})
	}
	infinite := &structpb.Struct{Fields: map[string]*structpb.Value{"small": structpb.NewNumberValue(math.Inf(1))}}
	require.EqualError(t, typeOf[rich](t).Decode(infinite, &rich{}), "argument small must be a finite number")
}

func TestEncodeRefusesWhatItsSchemaWould(t *testing.T) {
	for _, test := range []struct {
		name string
		in   rich
		want string
	}{
		{"a text outside its enum", rich{Mode: "c"}, `mode: "c" is none of a, b`},
		{"a number that would be rounded", rich{Count: 1<<53 + 1}, "count: 9007199254740993 is beyond 2^53, where the wire would round it; use a string"},
		{"a negative one", rich{Big: math.MinInt64}, "beyond 2^53"},
		{"nil in a list", rich{List: []*edit{nil}}, "list: [0]: is nil"},
		{"a text that cannot be made", rich{At: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}, "at: "},
		{"a function", rich{Free: map[string]any{"f": func() {}}}, "free: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := typeOf[rich](t).Encode(test.in)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestOfRefusesWhatWouldNotBeMeant(t *testing.T) {
	for _, test := range []struct {
		name string
		of   reflect.Type
		want string
	}{
		{"bytes", reflect.TypeFor[struct {
			B []byte `json:"b"`
		}](), "would be a list of numbers"},
		{"a duration", reflect.TypeFor[struct {
			D time.Duration `json:"d"`
		}](), "would be a number of nanoseconds"},
		{"bounds of a text", reflect.TypeFor[struct {
			S string `json:"s" min:"1"`
		}](), "a min tag needs a number"},
		{"a default outside its bounds", reflect.TypeFor[struct {
			N int `json:"n" default:"0" min:"1"`
		}](), "must be at least 1"},
		{"a default outside its enum", reflect.TypeFor[struct {
			S string `json:"s" default:"c" enum:"a,b"`
		}](), "must be one of a, b"},
		{"an embedded pointer", reflect.TypeFor[struct{ *edit }](), "embed the struct"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := schema.Of(test.of)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestKeysAreEqualForEqualValues(t *testing.T) {
	shape := typeOf[arguments](t)
	key := func(text string) string {
		return shape.Key("op", parse(t, text), []string{"path", "limit"})
	}
	require.Equal(t, key(`{"path": "a"}`), key(`{"path": "a", "limit": 2000}`), "a default is its value")
	require.Equal(t, key(`{"path": "a", "limit": null}`), key(`{"path": "a", "mode": "count"}`))
	require.NotEqual(t, key(`{"path": "a"}`), key(`{"path": "b"}`))
	require.NotEqual(t, key(`{"path": "a"}`), key(`{"path": "a", "limit": 1}`))
	require.NotEqual(t, key(`{"path": "a"}`), shape.Key("other", parse(t, `{"path": "a"}`), []string{"path", "limit"}))
}

func TestParseBoundsDepth(t *testing.T) {
	deep := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING}
	for range 200 {
		deep = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: deep}
	}
	_, err := schema.Parse(&schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Properties: map[string]*schemav1.Schema{"a": deep}})
	require.ErrorContains(t, err, "nested more than 100 levels deep")
}

// FuzzParse holds that a schema from elsewhere is refused or works: neither it nor arguments for it can panic, and
// what a typed schema takes its parsed twin takes too.
func FuzzParse(f *testing.F) {
	typed, err := schema.Of(reflect.TypeFor[rich]())
	require.NoError(f, err)
	text, err := protojson.Marshal(typed.Schema)
	require.NoError(f, err)
	f.Add(text, []byte(`{"free": {"a": 1}, "tags": ["x"], "list": [{"old": "a"}]}`))
	f.Add([]byte(`{"type": 1, "properties": {"a": {"type": 5}}, "required": ["a"]}`), []byte(`{"a": [null]}`))
	f.Fuzz(func(t *testing.T, text, arguments []byte) {
		wire, in := &schemav1.Schema{}, &structpb.Struct{}
		if protojson.Unmarshal(text, wire) != nil || protojson.Unmarshal(arguments, in) != nil {
			return
		}
		twin, err := schema.Parse(typed.Schema)
		require.NoError(t, err)
		var into *structpb.Struct
		if typed.Decode(in, &rich{}) == nil {
			require.NoError(t, twin.Decode(in, &into))
		}
		shape, err := schema.Parse(wire)
		if err != nil {
			return
		}
		if shape.Decode(in, &into) == nil {
			_, err = shape.Encode(into)
			require.NoError(t, err)
		}
	})
}
