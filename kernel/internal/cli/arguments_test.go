package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

func ofType(t schemav1.SchemaType) *schemav1.Schema { return &schemav1.Schema{Type: t} }

var (
	text    = ofType(schemav1.SchemaType_SCHEMA_TYPE_STRING)
	number  = ofType(schemav1.SchemaType_SCHEMA_TYPE_NUMBER)
	boolean = ofType(schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN)
	object  = ofType(schemav1.SchemaType_SCHEMA_TYPE_OBJECT)
)

func listOf(items *schemav1.Schema) *schemav1.Schema {
	return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: items}
}

func testArguments() *schemav1.Schema {
	return &schemav1.Schema{
		Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT,
		Properties: map[string]*schemav1.Schema{
			"path": text, "limit": number, "all": boolean, "paths": listOf(text), "sizes": listOf(number),
			"edits": listOf(object), "options": object,
			"format": {Type: schemav1.SchemaType_SCHEMA_TYPE_STRING, EnumValues: []string{"json", "markdown"}},
			"since":  text,
		},
		Required: []string{"path", "limit"},
	}
}

func TestParseArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "args.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"path": "from a file"}`), 0o644))
	tests := []struct {
		name       string
		args       string
		words      []string
		positional bool
		want       string
	}{
		{name: "nothing", want: `{}`},
		{name: "types", words: []string{"path=5", "limit=5", "all=true"}, want: `{"path":"5","limit":5,"all":true}`},
		{name: "value with =", words: []string{"path=a=b"}, want: `{"path":"a=b"}`},
		{name: "value that begins with @", words: []string{"path=@x"}, want: `{"path":"@x"}`},
		{name: "empty value", words: []string{"path="}, want: `{"path":""}`},
		{name: "lists by repetition", words: []string{"paths=a", "sizes=1", "paths=b", "sizes=2.5"}, want: `{"paths":["a","b"],"sizes":[1,2.5]}`},
		{name: "untypable values stay for the check", words: []string{"limit=many", "all=yes", "sizes=x", "unknown=1"}, want: `{"limit":"many","all":"yes","sizes":["x"],"unknown":"1"}`},
		{name: "numbers that JSON does not know", words: []string{"limit=0x10"}, want: `{"limit":"0x10"}`},
		{name: "large numbers that stay", args: `{"limit": 1e300, "sizes": [9007199254740992, -0]}`, want: `{"limit":1e300,"sizes":[9007199254740992,0]}`},
		{name: "not a number", words: []string{"limit=NaN"}, want: `{"limit":"NaN"}`},
		{name: "object", args: `{"edits": [{"a": 1}], "path": "x"}`, want: `{"edits":[{"a":1}],"path":"x"}`},
		{name: "words win over the object", args: `{"path": "x", "paths": ["old"]}`, words: []string{"path=y", "paths=new"}, want: `{"path":"y","paths":["new"]}`},
		{name: "a value that begins with a bracket", words: []string{"paths=[ab]*.go"}, want: `{"paths":["[ab]*.go"]}`},
		{name: "file", args: "@" + file, want: `{"path":"from a file"}`},
		{name: "positional fills what is required", words: []string{"a", "7"}, positional: true, want: `{"path":"a","limit":7}`},
		{name: "positional skips what is given", words: []string{"7", "path=a"}, positional: true, want: `{"path":"a","limit":7}`},
		{name: "positional takes the one optional that can hold it", words: []string{"path=a", "limit=7", "v1.2"}, positional: true, want: `{"path":"a","limit":7,"since":"v1.2"}`},
		{name: "positional takes the optional one that is left", words: []string{"a", "7", "since=v1", "json"}, positional: true, want: `{"path":"a","limit":7,"since":"v1","format":"json"}`},
		{name: "positional text with =", words: []string{"a b=c"}, positional: true, want: `{"path":"a b=c"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseArguments(t.Context(), testArguments(), tt.args, tt.words, tt.positional)
			require.NoError(t, err)
			text, err := json.Marshal(got.AsMap())
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(text))
		})
	}
}

func TestParseArgumentsRefuses(t *testing.T) {
	tests := []struct {
		name       string
		args       string
		words      []string
		positional bool
		want       string
	}{
		{name: "no pair", words: []string{"README.md"}, want: "write NAME=VALUE"},
		{name: "twice", words: []string{"path=a", "path=b"}, want: `"path" is given twice`},
		{name: "object as a word", words: []string{"options={}"}, want: "--args"},
		{name: "list of objects as a word", words: []string{"edits={}"}, want: "--args"},
		{name: "a whole list as a word", words: []string{`paths=["a", "b"]`}, want: `repeat paths=VALUE for each`},
		{name: "not JSON", args: `{x`, want: "--args is not a JSON object: syntax error (line 1:2): invalid value x"},
		{name: "a value that could be two", words: []string{"a", "1", "json"}, positional: true, want: `"json" could be format or since: write format=json or the like`},
		{name: "not an object", args: `[1]`, want: "not a JSON object"},
		{name: "text after the object", args: `{} {}`, want: "not a JSON object"},
		{name: "a key twice", args: `{"a": {"b": 1, "b": 2}}`, want: `duplicate map key "b"`},
		{name: "a number that would change", words: []string{"limit=9007199254740993"}, want: "it would become 9007199254740992"},
		{name: "a number deep in the object that would change", args: `{"edits": [{"id": -9007199254740993}]}`, want: "--args: the number -9007199254740993"},
		{name: "no such file", args: "@/no/such/file", want: "no such file"},
		{name: "too many values", words: []string{"a", "1", "b", "c"}, positional: true, want: `no argument left for "c"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseArguments(t.Context(), testArguments(), tt.args, tt.words, tt.positional)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, exitUsage, exitCode(err))
		})
	}
}

func FuzzParseArguments(f *testing.F) {
	f.Add(`{"path":"x"}`, "limit=5", "a")
	f.Add("", "edits=1", "=")
	f.Fuzz(func(t *testing.T, args, first, second string) {
		if len(args) > 0 && args[0] == '@' {
			return
		}
		got, err := parseArguments(t.Context(), testArguments(), args, []string{first, second}, true)
		require.True(t, (got == nil) != (err == nil))
	})
}
