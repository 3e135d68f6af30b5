package tags_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk/internal/tags"
)

func TestFault(t *testing.T) {
	for _, test := range []struct{ name, tag, want string }{
		{"none", ``, ""},
		{"one", `json:"path"`, ""},
		{"several", `json:"path" doc:"A \"file\": its path."  yaml:"x"`, ""},
		{"nothing between them", `json:"path"doc:"x"`, ""}, // package reflect reads it
		{"no quotes", `json:path`, "malformed at \"json:path\""},
		{"a space", `json: "path"`, "malformed at"},
		{"no end", `doc:"x" json:"path`, "malformed at \"json:"},
		{"no key", `:"path"`, "malformed"},
		{"a key alone", `json`, "malformed"},
		{"another kind of quotes", "json:'path'", "malformed"},
		{"a key that others use", `json:"path" required:"true"`, "a required tag means nothing here: every field is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fault := tags.Fault(reflect.StructTag(test.tag), map[string]string{"required": "every field is"})
			if test.want == "" {
				require.Empty(t, fault)
				return
			}
			require.Contains(t, fault, test.want)
		})
	}
}
