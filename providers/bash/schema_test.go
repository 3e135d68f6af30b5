//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

// What a model and a kernel are told is part of the behaviour: a change shows in review.
func TestSchema(t *testing.T) {
	tools := start(t, nil).Tools(t.Context())
	wire, err := protojson.Marshal(&toolv1.GetSchemaResponse{Tools: tools})
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(wire, &value)) // protojson varies its blanks on purpose
	got, err := json.MarshalIndent(value, "", "  ")
	require.NoError(t, err)
	golden(t, "testdata/schema.json", append(got, '\n'))
}

// The table of operations in the README is made of the schema.
func TestReadmeNamesEveryOperation(t *testing.T) {
	const begin, end = "<!-- operations: the test with -update writes them -->\n", "<!-- end of operations -->\n"
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(readme), begin)
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	table := "| operation | kind, risk | arguments | what it does |\n|---|---|---|---|\n"
	for _, tool := range start(t, nil).Tools(t.Context()) {
		table += operationRow(tool)
	}
	golden(t, "README.md", []byte(head+begin+table+end+tail))
}

// operationRow is an operation as the README shows it: of its description the first
// sentence.
func operationRow(tool *toolv1.ToolSchema) string {
	word := func(enum fmt.Stringer, prefix string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(enum.String(), prefix)), "_", "-")
	}
	does, _, _ := strings.Cut(tool.GetDescription(), "\n")
	var arguments []string // the required ones first
	for _, name := range slices.Sorted(maps.Keys(tool.GetInputSchema().GetProperties())) {
		if slices.Contains(tool.GetInputSchema().GetRequired(), name) {
			arguments = slices.Insert(arguments, 0, "**"+name+"**")
		} else {
			arguments = append(arguments, name)
		}
	}
	return fmt.Sprintf("| `%s` | %s, %s | %s | %s |\n", tool.GetName(), word(tool.GetKind(), "TOOL_KIND_"),
		word(tool.GetRisk(), "RISK_CLASS_"), strings.Join(arguments, " "), does)
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run the test with -update if this is meant")
}

func TestRefusedConfigurations(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		name   string
		config fields
		field  string
	}{
		{"root that is missing", fields{"allowed_roots": []any{root + "/none"}}, "allowed_roots"},
		{"root that is a file", fields{"allowed_roots": []any{"/proc/version"}}, "allowed_roots"},
		{"shell that is missing", fields{"shell": "nonexistent-shell"}, "shell"},
		{"no time at all", fields{"default_timeout_ms": 0}, "default_timeout_ms"},
		{"default over the maximum", fields{"default_timeout_ms": 2000, "max_timeout_ms": 1000}, "default_timeout_ms"},
		{"maximum below the default", fields{"max_timeout_ms": 1000}, "120000 is more than max_timeout_ms, which is 1000; set both"},
		{"grace too long to report", fields{"kill_grace_ms": 4001}, "kill_grace_ms"},
		{"negative idle time", fields{"idle_timeout_ms": -1}, "idle_timeout_ms"},
		{"result too small", fields{"max_result_bytes": 10}, "max_result_bytes"},
		{"result too large", fields{"max_result_bytes": 4 << 20}, "max_result_bytes"},
		{"no columns", fields{"columns": 0}, "columns"},
		{"too many rows", fields{"rows": 70000}, "rows"},
		{"bad pattern", fields{"env_allow": []any{"LC_["}}, "env_allow"},
		{"bad variable name", fields{"env": fields{"A=B": "secret-value"}}, "env"},
		{"bad variable value", fields{"env": fields{"A": "secret-value\x00"}}, "env"},
		{"unknown sandbox", fields{"sandbox": "jail"}, "sandbox"},
		{"command that runs others", fields{"read_commands": []any{"sudo"}}, "read_commands"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, ok := c.config["allowed_roots"]; !ok {
				c.config["allowed_roots"] = []any{root}
			}
			err := sdktest.ToolError(sdktest.Configure(t, provider(), c.config))
			require.NotNil(t, err)
			require.Equal(t, invalid, err.GetCategory(), err.GetMessage())
			require.Contains(t, err.GetMessage(), c.field)
			require.NotContains(t, err.GetMessage(), "secret-value")
		})
	}
}
