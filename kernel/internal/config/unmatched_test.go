package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/policy"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// A deny that names an argument which nothing has would never match.
func TestCheckNamesOfArguments(t *testing.T) {
	takes := func(provider, name string, kind toolv1.ToolKind, arguments ...string) policy.Callable {
		input := &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Properties: map[string]*schemav1.Schema{}}
		for _, a := range arguments {
			input.Properties[a] = &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING}
		}
		return policy.Callable{Provider: provider, Operation: name, Kind: kind, Risk: toolv1.RiskClass_RISK_CLASS_LOW, Input: input}
	}
	fs := Offer{Tools: []string{"read_file", "write_file"}, Operations: []policy.Callable{
		takes("fs", "read_file", toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, "path"), takes("fs", "write_file", toolv1.ToolKind_TOOL_KIND_RESOURCE, "path", "content"),
	}}
	rt := Offer{Tools: []string{"sh"}, Operations: []policy.Callable{takes("rt", "sh", toolv1.ToolKind_TOOL_KIND_RESOURCE, "command")}}
	both := map[string]Offer{"fs": fs, "rt": rt}
	tests := []struct {
		name, match string
		started     map[string]Offer
		want        string
	}{
		{"right", `provider = "fs", arguments = { path = "a" }`, both, ""},
		{"right, of any", `arguments = { content = "a" }`, both, ""},
		{"right, a command", `command = ["ls"]`, both, ""},
		{"another's", `provider = "fs", arguments = { file = "secrets/**" }`, both, `policy "a": no operation of provider "fs" that it is about has a text argument "file"`},
		{"typo", `provider = "fs", arguments = { paht = "a" }`, both, `policy "a": no operation of provider "fs" that it is about has a text argument "paht" (did you mean "path"?)`},
		{"typo, of any", `arguments = { contnt = "a" }`, both, `policy "a": no operation that it is about has a text argument "contnt" (did you mean "content"?)`},
		{"one of two", `arguments = { path = "a", contnt = "a" }`, both, `policy "a": no operation that it is about has a text argument "contnt" (did you mean "content"?)`},
		{"of another tool", `provider = "fs", tool_name = "read_file", arguments = { content = "a" }`, both, `policy "a": "read_file" of provider "fs" does not have a text argument "content"`},
		{"of another kind", `provider = "fs", kind = "data_source", arguments = { content = "a" }`, both, `policy "a": "read_file" of provider "fs" does not have a text argument "content"`},
		{"no shell", `command = ["ls"], provider = "fs"`, both, `policy "a": no operation of provider "fs" that it is about takes a command`},
		{"about no operation", `risk = "critical", arguments = { contnt = "a" }`, both, ""},
		{"a provider was not started", `arguments = { contnt = "a" }`, map[string]Offer{"fs": fs}, ""},
		{"its provider was not started", `provider = "rt", arguments = { contnt = "a" }`, map[string]Offer{"fs": fs}, ""},
		{"a tool that is not there is told alone", `provider = "fs", tool_name = "red_file", arguments = { contnt = "a" }`, both, `policy "a": provider "fs" does not have a tool or command "red_file" (did you mean "read_file"?)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := loadText("required_providers {\n fs = { source = \"github.com/o/r\" }\n rt = { source = \"github.com/o/r\" }\n}\n" +
				"policy \"a\" {\n match = { " + tt.match + " }\n action = \"deny\"\n}\n")
			require.Empty(t, diags)
			err := p.CheckNames(tt.started)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var problems Diagnostics
			require.ErrorAs(t, err, &problems)
			require.Len(t, problems, 1)
			require.Equal(t, tt.want, problems[0].Summary)
			require.Equal(t, 6, problems[0].Range.Start.Line)
			require.Contains(t, problems[0].Detail, "The policy could never match.")
		})
	}
}

func TestAskAboutReadingIsToldOf(t *testing.T) {
	p, diags := loadText("required_providers {\n fs = { source = \"github.com/o/r\" }\n}\npolicy \"a\" {\n match = { kind = \"data_source\" }\n action = \"ask\"\n}\n")
	require.Empty(t, diags)
	require.Len(t, p.Warnings, 1)
	require.Equal(t, `Policy "a" can only deny`, p.Warnings[0].Summary)
	require.Equal(t, 4, p.Warnings[0].Range.Start.Line)
}
