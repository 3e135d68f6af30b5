package config_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/agentco/agent/sdk/internal/config"
)

type proxy struct {
	URL  string `hcl:"url"`
	Port int    `hcl:"port" default:"8080"`
}

type block struct {
	Roots []string          `hcl:"roots" doc:"Where."`
	Token string            `hcl:"token,optional" sensitive:"true"`
	Limit float64           `hcl:"limit" default:"1.5"`
	Greet string            `hcl:"greet" default:"hi there"`
	On    bool              `hcl:"on" default:"true"`
	Env   map[string]string `hcl:"env,optional"`
	Ports []int             `hcl:"ports,optional"`
	Proxy proxy             `hcl:"proxy,optional"`
	_     bool
	Own   chan int
}

func typeOf[T any](t *testing.T) *config.Type {
	t.Helper()
	got, err := config.Of(reflect.TypeFor[T](), nil)
	require.NoError(t, err)
	return got
}

func parse(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	require.NoError(t, protojson.Unmarshal([]byte(text), s))
	return s
}

func TestSchemaSaysWhatTheStructSays(t *testing.T) {
	want := &configv1.ConfigSchema{}
	require.NoError(t, protojson.Unmarshal([]byte(`{"attributes": [
		{"name": "roots", "type": "ATTR_TYPE_LIST_STRING", "required": true, "description": "Where."},
		{"name": "token", "type": "ATTR_TYPE_STRING", "sensitive": true},
		{"name": "limit", "type": "ATTR_TYPE_NUMBER", "defaultJson": "1.5"},
		{"name": "greet", "type": "ATTR_TYPE_STRING", "defaultJson": "\"hi there\""},
		{"name": "on", "type": "ATTR_TYPE_BOOL", "defaultJson": "true"},
		{"name": "env", "type": "ATTR_TYPE_MAP_STRING"},
		{"name": "ports", "type": "ATTR_TYPE_LIST_NUMBER"},
		{"name": "proxy", "type": "ATTR_TYPE_OBJECT", "objectAttributes": [
			{"name": "url", "type": "ATTR_TYPE_STRING", "required": true},
			{"name": "port", "type": "ATTR_TYPE_NUMBER", "defaultJson": "8080"}
		]}
	]}`), want))
	require.Empty(t, cmp.Diff(want, typeOf[block](t).Schema, protocmp.Transform()))
}

func TestDecodeFillsTheStruct(t *testing.T) {
	var got block
	_, err := typeOf[block](t).Decode(parse(t, `{
		"roots": ["a", "b"], "env": {"K": "v"}, "ports": [1, 2], "proxy": {"url": "u"}, "greet": null
	}`), &got, "")
	require.NoError(t, err)
	require.Equal(t, block{
		Roots: []string{"a", "b"}, Limit: 1.5, Greet: "hi there", On: true,
		Env: map[string]string{"K": "v"}, Ports: []int{1, 2}, Proxy: proxy{"u", 8080},
	}, got)
}

func TestDecodeNamesTheFieldAndNeverTheSecret(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"missing", `{}`, "roots is required"},
		{"wrong type", `{"roots": "a"}`, "roots must be a list of strings"},
		{"wrong element", `{"roots": [1]}`, "roots[0] must be a string"},
		{"unknown", `{"roots": [], "rots": 1}`, "rots is not an attribute of this provider; did you mean roots?"},
		{"nested", `{"roots": [], "proxy": {"url": "u", "port": 1.5}}`, "proxy.port must be a whole number"},
		{"nested missing", `{"roots": [], "proxy": {}}`, "proxy.url is required"},
		{"map of numbers", `{"roots": [], "env": {"K": 1}}`, "env.K must be a string"},
		{"object for a string", `{"roots": [], "token": {"hunter2": "hunter2"}}`, "token must be a string"},
		{"number for a secret", `{"roots": [], "token": 12345}`, "token must be a string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got block
			_, err := typeOf[block](t).Decode(parse(t, test.in), &got, "")
			var field *config.FieldError
			require.ErrorAs(t, err, &field)
			require.EqualError(t, err, test.want)
		})
	}
}

func TestOfRefusesContradictions(t *testing.T) {
	for _, test := range []struct {
		name string
		of   reflect.Type
		want string
	}{
		{"a secret with a default", reflect.TypeFor[struct {
			S string `hcl:"s" sensitive:"true" default:"x"`
		}](), "cannot have a default"},
		{"a type the protocol lacks", reflect.TypeFor[struct {
			C complex128 `hcl:"c"`
		}](), "no attribute type"},
		{"an unexported attribute", reflect.TypeFor[struct {
			c string `hcl:"c"`
		}](), "not exported"},
		{"a default of another type", reflect.TypeFor[struct {
			N int `hcl:"n" default:"many"`
		}](), "default tag many is not JSON"},
		{"a default that does not fit", reflect.TypeFor[struct {
			N int `hcl:"n" default:"true"`
		}](), "does not fit"},
		{"a tag that package reflect does not read", reflect.StructOf([]reflect.StructField{
			{Name: "S", Type: reflect.TypeFor[string](), Tag: `hcl:s`},
		}), "the tag `hcl:s` is malformed"},
		{"a secret that is no attribute", reflect.TypeFor[struct {
			S string `json:"s" sensitive:"true"`
		}](), "a sensitive tag means nothing here: only a field with an hcl tag"},
		{"a tag of arguments", reflect.TypeFor[struct {
			N int `hcl:"n" min:"1"`
		}](), "a min tag means nothing here"},
		{"a tag with another option", reflect.TypeFor[struct {
			N int `hcl:"n,label"`
		}](), "neither"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := config.Of(test.of, nil)
			require.ErrorContains(t, err, test.want)
		})
	}
}
