package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

func TestCallsOfUnknownOperations(t *testing.T) {
	there := []string{"levels", "pack"}
	tests := []struct {
		name, text, problem string
	}{
		{"known", `call "levels" "a" {}`, ""},
		{"misspelt", "\n" + `call "level" "a" {}`, `s.hcl:2: no operation "level"; there are levels, pack; did you mean levels?`},
		{"with the provider's name", `call "logs.levels" "a" {}`, `s.hcl:1: no operation "logs.levels"; there are levels, pack; did you mean levels?`},
		{"like none", `call "translate" "a" {}`, `s.hcl:1: no operation "translate"; there are levels, pack`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := parse(t, test.text).Calls(there)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.problem)
		})
	}
}

func TestResultsOfUnknownCalls(t *testing.T) {
	const first = `call "open" "a file" {}` + "\n"
	tests := []struct {
		name, text, problem string
	}{
		{"an earlier call", first + `call "read" "b" { arguments = { handle = results["a file"].handle } }`, ""},
		{"a name that is worked out", first + `call "read" "b" { arguments = { handle = results[format("a %s", "file")].handle } }`, ""},
		{"a slip", first + `call "read" "b" { arguments = { handle = results["a flie"].handle } }`, `s.hcl:2: no earlier call "a flie"; there are a file; did you mean a file?`},
		{"a later call", `call "read" "b" { arguments = { handle = results["a file"].handle } }` + "\n" + first, `s.hcl:1: no earlier call "a file"; there is none`},
		{"itself", `call "read" "b" { arguments = { handle = results.b.handle } }`, `s.hcl:1: no earlier call "b"; there is none`},
		{"one that is cancelled", `call "open" "a" { cancel_after = "1s" }` + "\n" + `call "read" "b" { arguments = { handle = results.a.handle } }`, `s.hcl:2: no earlier call "a"; there is none`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.text), "s.hcl")
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.problem)
		})
	}
}

func TestAttributesThatTheSchemaLacks(t *testing.T) {
	schema := []*configv1.ConfigAttribute{
		{Name: "token", Type: configv1.AttrType_ATTR_TYPE_STRING},
		{Name: "auth", Type: configv1.AttrType_ATTR_TYPE_OBJECT, ObjectAttributes: []*configv1.ConfigAttribute{{Name: "user"}}},
		{Name: "labels", Type: configv1.AttrType_ATTR_TYPE_MAP_STRING},
	}
	tests := []struct {
		name, text, problem string
	}{
		{"none at all", ``, ""},
		{"known", "config {\n token = \"t\"\n auth = { user = \"u\" }\n labels = { any = \"thing\" }\n}", ""},
		{"misspelt", "config {\n auth = { user = \"u\" }\n tokn = \"t\"\n}", `s.hcl:3: no attribute "tokn"; there are token, auth, labels; did you mean token?`},
		{"in an object", "config {\n auth = { usr = \"u\" }\n}", `s.hcl:2: no attribute "usr"; there are user; did you mean user?`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := parse(t, test.text).Configures(schema)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.problem)
		})
	}
}
