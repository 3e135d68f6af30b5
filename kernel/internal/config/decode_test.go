package config

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

func attribute(name string, t configv1.AttrType) *configv1.ConfigAttribute {
	return &configv1.ConfigAttribute{Name: name, Type: t}
}

// testSchema has an attribute of every type, a secret at the top and a secret in an object.
var testSchema = func() *configv1.ConfigSchema {
	roots := attribute("roots", configv1.AttrType_ATTR_TYPE_LIST_STRING)
	port := attribute("port", configv1.AttrType_ATTR_TYPE_NUMBER)
	port.DefaultJson = proto.String("80")
	token := attribute("token", configv1.AttrType_ATTR_TYPE_STRING)
	token.Sensitive = true
	user := attribute("user", configv1.AttrType_ATTR_TYPE_STRING)
	user.Required, user.Description = true, "Who asks."
	level := attribute("level", configv1.AttrType_ATTR_TYPE_NUMBER)
	level.DefaultJson = proto.String("3")
	auth := attribute("auth", configv1.AttrType_ATTR_TYPE_OBJECT)
	auth.ObjectAttributes = []*configv1.ConfigAttribute{user, token, level}
	return &configv1.ConfigSchema{Attributes: []*configv1.ConfigAttribute{
		roots, port, token, auth,
		attribute("name", configv1.AttrType_ATTR_TYPE_STRING),
		attribute("fast", configv1.AttrType_ATTR_TYPE_BOOL),
		attribute("weights", configv1.AttrType_ATTR_TYPE_LIST_NUMBER),
		attribute("env", configv1.AttrType_ATTR_TYPE_MAP_STRING),
	}}
}()

func TestDecode(t *testing.T) {
	tests := []struct{ name, settings, want string }{
		{"defaults", ``, `{"port":80}`},
		{"null is absent", `port = null`, `{"port":80}`},
		{"paths and templates", `roots = [path.root, "${path.cwd}/x", "${path.home}"]`, `{"port":80,"roots":["/project","/project/sub/x","/home/u"]}`},
		{"functions", `name = upper(join("-", split(",", "a,b")))`, `{"name":"A-B","port":80}`},
		{"a secret", `token = env("TOKEN")`, `{"port":80,"token":"` + secret + `"}`},
		{"an empty variable is a value", `token = env("EMPTY")`, `{"port":80,"token":""}`},
		{"a number from the environment", `port = env("PORT")`, `{"port":8080}`},
		{"every plain type", "fast = true\nweights = [1, 2.5]\nenv = { A = \"b\" }", `{"env":{"A":"b"},"fast":true,"port":80,"weights":[1,2.5]}`},
		{"an object", `auth = { user = "me", token = env("TOKEN") }`, `{"auth":{"level":3,"token":"` + secret + `","user":"me"},"port":80}`},
		{"a heredoc", "name = <<-EOT\n  a\n  b\n  EOT", `{"name":"a\nb\n","port":80}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := loadText(withProvider(tt.settings))
			require.Empty(t, diags)
			got, err := p.Providers[0].Decode(testSchema)
			require.NoError(t, err)
			text, err := json.Marshal(got.AsMap())
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(text))
		})
	}
}

func TestDecodeProblems(t *testing.T) {
	tests := []struct {
		name, settings string
		want           []string
	}{
		{"unknown argument", `rots = []`, []string{"agent.hcl:3:1", `"rots"`, `"roots"`}},
		{"wrong type", `port = "many"`, []string{"agent.hcl:3:8", "Incorrect attribute value type", "number is required"}},
		{"null element", `roots = ["a", null]`, []string{"agent.hcl:3:9", `Invalid value for "roots"`}},
		{"inexact number", `port = 9007199254740993`, []string{"agent.hcl:3:8", "15 digits"}},
		{"literal secret", `token = "` + secret + `"`, []string{"agent.hcl:3:9", "must come from the environment", `env("NAME")`}},
		{"template around a secret", `token = "x${env("TOKEN")}"`, []string{"agent.hcl:3:9", "must come from the environment"}},
		{"secret by function", `token = coalesce(env("TOKEN"), "x")`, []string{"agent.hcl:3:9", "must come from the environment"}},
		{"computed variable name", `token = env(upper("token"))`, []string{"agent.hcl:3:9", "must come from the environment"}},
		{"literal secret in an object", "auth = {\n user = \"me\"\n token = \"" + secret + "\" }", []string{"agent.hcl:5:10", "must come from the environment"}},
		{"two literal secrets on a line", `auth = { user = "` + secret + `", token = "` + secret + `" }`, []string{"agent.hcl:3:39", "must come from the environment"}},
		{"secret after a colon", "auth = {\n user = \"me\"\n token : \"" + secret + "==\"\n }", []string{"agent.hcl:5:10", "must come from the environment"}},
		{"object by function", `auth = coalesce(null, { user = "me" })`, []string{"agent.hcl:3:8", "must come from the environment"}},
		{"missing member", `auth = { token = env("TOKEN") }`, []string{"agent.hcl:3:8", `Missing required argument "user"`, "Who asks."}},
		{"unknown member", `auth = { usr = "me", user = "me" }`, []string{"agent.hcl:3:16", "Unknown argument in", `Did you mean "user"?`}},
		{"object expected", `auth = 5`, []string{"agent.hcl:3:8"}},
		{"key from the environment", `env = { (env("TOKEN")) = [], a = 1 }`, []string{"agent.hcl:3:7", "an element: string required"}},
		{"value from the environment as number", `port = env("TOKEN")`, []string{"agent.hcl:3:8", "number is required"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := loadText(withProvider(tt.settings))
			require.Empty(t, diags)
			_, err := p.Providers[0].Decode(testSchema)
			var ds Diagnostics
			require.ErrorAs(t, err, &ds)
			require.Equal(t, tt.want[0], ds[0].Position(), "%v", ds)
			for _, words := range tt.want[1:] {
				require.Contains(t, ds[0].Summary+"\n"+ds[0].Detail, words)
			}
			for _, d := range ds {
				require.NotContains(t, d.Summary+d.Detail+d.Source, secret)
			}
		})
	}
}

// The value of a variable must not be quoted by the evaluator either.
func TestLoadHidesValues(t *testing.T) {
	for _, expr := range []string{
		`{ a = 1 }[env("TOKEN")]`, `[1][env("TOKEN")]`, `{ for x in ["a", "b"] : env("TOKEN") => x }`,
		`env("TOKEN") + 1`, `env("TOKEN").x`, `env("TOKEN") ? 1 : 2`, `upper(env("TOKEN"), 1)`, `env("TOKEN")...`,
		`env(env("TOKEN"))`, `[env(upper(env("TOKEN"))), env("UNSET")]`, `concat(env("TOKEN"))`, `{ a = 1 }[upper(env("TOKEN"))]`,
	} {
		t.Run(expr, func(t *testing.T) {
			_, diags := loadText(withProvider("name = " + expr))
			require.NotEmpty(t, diags)
			for _, d := range diags {
				require.NotContains(t, d.Summary+d.Detail, secret)
				require.NotContains(t, d.Summary+d.Detail, "S3CR3T")
			}
		})
	}
}

// What the wire cannot carry, or cty would change on the way, must not be a puzzle later.
func TestVariablesThatAreNotPassedOn(t *testing.T) {
	tests := []struct{ name, expr, want string }{
		{"unset", `env("UNSET")`, `Environment variable "UNSET" is not set`},
		{"bytes", `env("BYTES")`, `Environment variable "BYTES" is not text in UTF-8`},
		{"decomposed", `"x${env("DECOMPOSED")}"`, `Environment variable "DECOMPOSED" would be changed`},
		{"a computed name", `env(lower("UNSET"))`, "An environment variable is not set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(withProvider("name = " + tt.expr))
			require.Len(t, diags, 1)
			require.Equal(t, tt.want, diags[0].Summary)
			require.Contains(t, diags[0].Detail, `The argument "name" needs it. Set it`)
		})
	}
}

func TestRejectedWithoutAWord(t *testing.T) {
	p, _ := loadText(withProvider("name = 1"))
	diags := p.Providers[0].Rejected("name", "")
	require.Equal(t, "agent.hcl:3:8", diags[0].Position())
	require.Equal(t, "It does not say why.", diags[0].Detail)
}

func TestDecodeWithoutBlock(t *testing.T) {
	p, diags := loadText(`required_providers { fs = { source = "github.com/o/r" } }`)
	require.Empty(t, diags)
	got, err := p.Providers[0].Decode(testSchema)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"port": 80.0}, got.AsMap())

	must := attribute("roots", configv1.AttrType_ATTR_TYPE_LIST_STRING)
	must.Required = true
	_, err = p.Providers[0].Decode(&configv1.ConfigSchema{Attributes: []*configv1.ConfigAttribute{must}})
	require.ErrorContains(t, err, `agent.hcl:1:22: Missing required argument "roots". Write provider "fs" { roots = … }.`)
	must.Type, must.Sensitive = configv1.AttrType_ATTR_TYPE_STRING, true
	_, err = p.Providers[0].Decode(&configv1.ConfigSchema{Attributes: []*configv1.ConfigAttribute{must}})
	require.ErrorContains(t, err, `Write provider "fs" { roots = env("NAME") }.`, "a secret has one way to be written")
}

func TestDecodeRefusesABadSchema(t *testing.T) {
	object := attribute("o", configv1.AttrType_ATTR_TYPE_OBJECT)
	secretDefault := attribute("s", configv1.AttrType_ATTR_TYPE_STRING)
	secretDefault.Sensitive, secretDefault.DefaultJson = true, proto.String(`"x"`)
	badDefault := attribute("d", configv1.AttrType_ATTR_TYPE_NUMBER)
	badDefault.DefaultJson = proto.String(`"x"`)
	noJSON := attribute("d", configv1.AttrType_ATTR_TYPE_NUMBER)
	noJSON.DefaultJson = proto.String(`{`)
	deep := attribute("leaf", configv1.AttrType_ATTR_TYPE_STRING)
	for range 20 {
		parent := attribute("o", configv1.AttrType_ATTR_TYPE_OBJECT)
		parent.ObjectAttributes = []*configv1.ConfigAttribute{deep}
		deep = parent
	}
	tests := []struct {
		name  string
		attrs []*configv1.ConfigAttribute
		want  string
	}{
		{"no type", []*configv1.ConfigAttribute{attribute("a", 0)}, "no known type"},
		{"unknown type", []*configv1.ConfigAttribute{attribute("a", 99)}, "no known type"},
		{"no name", []*configv1.ConfigAttribute{attribute("", configv1.AttrType_ATTR_TYPE_BOOL)}, "no name"},
		{"no identifier", []*configv1.ConfigAttribute{attribute("a b\x1b", configv1.AttrType_ATTR_TYPE_BOOL)}, `"a b\x1b" is no name`},
		{"twice", []*configv1.ConfigAttribute{attribute("a", configv1.AttrType_ATTR_TYPE_BOOL), attribute("a", configv1.AttrType_ATTR_TYPE_BOOL)}, "twice"},
		{"object without attributes", []*configv1.ConfigAttribute{object}, "OBJECT"},
		{"secret with a default", []*configv1.ConfigAttribute{secretDefault}, "sensitive"},
		{"default of another type", []*configv1.ConfigAttribute{badDefault}, "type"},
		{"default that is not JSON", []*configv1.ConfigAttribute{noJSON}, "parse"},
		{"too deep", []*configv1.ConfigAttribute{deep}, "levels"},
	}
	p, _ := loadText(withProvider(""))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.Providers[0].Decode(&configv1.ConfigSchema{Attributes: tt.attrs})
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, `provider "fs"`)
		})
	}
}
